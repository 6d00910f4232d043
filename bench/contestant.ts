import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type ToBody, toCompletion } from "./requests.ts";

/** A program that answers requests; a fresh process for every measurement. */
export interface Contestant {
  readonly name: string;
  start(upstreamPort: number): Promise<Running>;
}

export interface Running {
  readonly name: string;
  readonly port: number;
  /** Headers the contestant wants besides the usual ones, each with its line end. */
  readonly headers: string;
  /** Path of the completions route. */
  readonly path: string;
  /** The body that this route takes. */
  readonly toBody: ToBody;
  /** CPU time of all its threads so far, in microseconds. */
  cpu(): number;
  /** Resident memory in MB. */
  memory(): number;
  /** Whether the process still lives. */
  isAlive(): boolean;
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly port: number;
  /** Path that answers 200 as soon as the contestant is ready; any answer will do when left out. */
  readonly ready?: string;
  readonly headers?: string;
  readonly path?: string;
  readonly toBody?: ToBody;
  /** Cores it may use, as `taskset` takes them; core 0 when left out, so that contestants have the same. */
  readonly cores?: string;
  /** Runs after the process ended. */
  cleanUp?(): void;
}

/** Starts `node …args` and waits until it answers. */
export async function startProcess(options: ProcessOptions): Promise<Running> {
  const child = spawn(
    "taskset",
    ["-c", options.cores ?? "0", process.execPath, ...profiling(), ...options.args],
    {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const output = collect(child);
  const pid = child.pid ?? 0;
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const force = setTimeout(() => child.kill("SIGKILL"), 15_000);
      child.kill("SIGTERM");
      await once(child, "exit");
      clearTimeout(force);
    }
    options.cleanUp?.();
  };
  await waitUntilReady(options, child, output).catch(async (error) => {
    await stop();
    throw error;
  });
  return {
    name: options.name,
    port: options.port,
    headers: options.headers ?? "",
    path: options.path ?? "/v1/chat/completions",
    toBody: options.toBody ?? toCompletion,
    cpu: () => cpuOf(pid),
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    stop,
  };
}

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

// taskset replaces itself by the program, so the child's id is the contestant's.
function cpuOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.reduce((sum, task) => sum + onCore(`/proc/${pid}/task/${task}/schedstat`), 0) / 1000;
}

function onCore(file: string): number {
  try {
    return Number(readFileSync(file, "utf8").split(" ")[0]);
  } catch {
    // The thread ended between the listing and the reading.
    return 0;
  }
}

/** `BENCH_PROFILE=<folder>` writes a CPU profile of each contestant there when it stops. */
function profiling(): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder ? ["--cpu-prof", `--cpu-prof-dir=${folder}`] : [];
}

function collect(child: ChildProcess): () => string {
  let text = "";
  const add = (piece: Buffer) => {
    text = (text + piece).slice(-4000);
  };
  child.stdout?.on("data", add);
  child.stderr?.on("data", add);
  return () => text;
}

async function waitUntilReady(
  options: ProcessOptions,
  child: ChildProcess,
  output: () => string,
): Promise<void> {
  const url = `http://127.0.0.1:${options.port}${options.ready ?? "/"}`;
  for (const until = Date.now() + 180_000; Date.now() < until;) {
    if (child.exitCode !== null) {
      throw new Error(`${options.name} ended with code ${child.exitCode} before it answered:\n${output()}`);
    }
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response && (options.ready === undefined || response.status === 200)) {
      return;
    }
    await delay(20);
  }
  throw new Error(`${options.name} did not answer ${url} within three minutes:\n${output()}`);
}
