import { subscribe } from "node:diagnostics_channel";
import { readdirSync, readFileSync } from "node:fs";
import { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDatabases } from "#storage/testing.ts";

/**
 * Everything of this worker that somebody has to close, end or remove, with a name for a reader. What a process of
 * `shared` starts later belongs to it, as the renderers of a browser do.
 */
export function collect(shared: ReadonlySet<unknown> = new Set()): Map<unknown, string> {
  return new Map<unknown, string>([
    ...collectServers(),
    ...collectProcesses(shared),
    ...collectFolder(),
    ...[...openTestDatabases].map((name): [unknown, string] => [name, `database ${name}`]),
  ]);
}

const openedAt = new WeakMap<Server, string>();

/** Remembers where each server was made to listen. */
export function observeServers(): void {
  subscribe("tracing:net.server.listen:asyncStart", (message) => {
    const { server } = message as { server: Server };
    const lines = (new Error().stack ?? "").split("\n").slice(1);
    const own = lines.find((line) => line.includes("/") && !/node_modules|node:|leaks\/collect/.test(line));
    openedAt.set(server, own?.trim() ?? "");
  });
}

function collectServers(): [unknown, string][] {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): unknown[] };
  const servers = handles
    .call(process)
    .filter((handle): handle is Server => handle instanceof Server && handle.listening);
  return servers.map((server) => {
    const address = server.address();
    const place = typeof address === "string" ? address : `port ${address?.port}`;
    return [server, `server on ${place} ${openedAt.get(server) ?? ""}`.trim()];
  });
}

function collectProcesses(shared: ReadonlySet<unknown>): [unknown, string][] {
  const started = new Set([...findDescendants(process.pid), ...findProcessesOf(tmpdir())]);
  return [...started]
    .filter((pid) => !isBelow(pid, shared))
    .map((pid) => [nameOf(pid), `${nameOf(pid)}: ${commandOf(pid)}`]);
}

const nameOf = (pid: number): string => `process ${pid}`;

/** Whether a process was started by one of these, or by one that they started. */
function isBelow(pid: number, these: ReadonlySet<unknown>): boolean {
  const parent = parentOf(pid);
  return parent > 1 && (these.has(nameOf(parent)) || isBelow(parent, these));
}

/** Processes that name a folder in their variables or arguments: also those that left their parent. */
export function findProcessesOf(folder: string): number[] {
  const names = (pid: number, file: "cmdline" | "environ") => readProcess(pid, file).includes(folder);
  return listProcesses().filter(
    (pid) => pid !== process.pid && (names(pid, "environ") || names(pid, "cmdline")),
  );
}

/** Processes that this one started, and theirs; none where the system does not list them. */
function findDescendants(root: number): number[] {
  const childrenOf = Map.groupBy(listProcesses(), parentOf);
  const found: number[] = [];
  const visit = (pid: number) => {
    for (const child of childrenOf.get(pid) ?? []) {
      found.push(child);
      visit(child);
    }
  };
  visit(root);
  return found;
}

function listProcesses(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** 0 for a process that has ended, also while it waits for its parent to read its code. */
function parentOf(pid: number): number {
  const text = readProcess(pid, "stat");
  const [state, parent] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return state === "Z" ? 0 : Number(parent ?? 0);
}

export function commandOf(pid: number): string {
  return readProcess(pid, "cmdline").replaceAll("\0", " ").trim().slice(0, 200);
}

function readProcess(pid: number, file: "stat" | "cmdline" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

function collectFolder(): [unknown, string][] {
  const folder = tmpdir();
  return readdirSync(folder)
    .filter((name) => !ofTools.test(name))
    .map((name) => [join(folder, name), `file or folder ${join(folder, name)}`]);
}

/** Node keeps what it compiled; a browser that suites share makes a folder for sound when a page first needs one. */
const ofTools = /^(node-compile-cache|pulse-\w+)$/;
