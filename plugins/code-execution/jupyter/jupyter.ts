import { createHash } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import type { ToolFile } from "#kernel/tools/output.ts";
import type { JupyterServer } from "../config.ts";
import type { RunResult } from "../run-result.ts";
import { createJupyterClient, type JupyterClient, type JupyterEgress } from "./client.ts";
import { openFolder } from "./folder.ts";
import { runInKernel } from "./run-code.ts";

/** One run of code on a Jupyter server. */
export interface JupyterRun {
  readonly server: JupyterServer;
  readonly code: string;
  /** The person and the chat whose kernel runs it; left out, a kernel of its own does and ends with it. */
  readonly place?: { readonly userId: string; readonly chatId: string } | undefined;
  /** Files for the working folder of a chat; asked for once it is needed. */
  readonly files?: (() => Promise<readonly ToolFile[]>) | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Python on Jupyter servers. */
export interface Jupyter {
  run(run: JupyterRun): Promise<RunResult>;
  /** Shuts kernels of this deployment down that rested for `idleMs`. */
  reap(server: JupyterServer, idleMs: number): Promise<void>;
}

/** Folder at the Jupyter server's root below which chats have theirs. */
const root = "millrace";

/**
 * Builds runs on Jupyter servers. The kernel of a chat is a session of the server's under a path that follows from
 * person and chat: replicas find the same one, and idle ones are found after a restart.
 */
export function createJupyter(egress: JupyterEgress, readOwner: () => Promise<string>): Jupyter {
  const clients = new Map<string, JupyterClient>();
  const clientOf = (server: JupyterServer): JupyterClient => {
    const key = JSON.stringify(server);
    const known = clients.get(key) ?? createJupyterClient(egress, server);
    if (clients.size > 10) {
      clients.clear();
    }
    clients.set(key, known);
    return known;
  };
  /** Runs of one kernel wait for each other: their files are told apart by time. */
  const queues = new Map<string, Promise<unknown>>();
  /** Deployments may share a server. */
  const baseOf = async () => `${root}/${toName(await readOwner())}`;

  return {
    async run(run) {
      const client = clientOf(run.server);
      if (run.place === undefined) {
        return await runOnce(client, run);
      }
      const { userId, chatId } = run.place;
      const path = `${await baseOf()}/${toName(`${userId} ${chatId}`)}`;
      return await enqueue(queues, `${run.server.url} ${path}`, () => runInChat(client, run, path));
    },
    async reap(server, idleMs) {
      const client = clientOf(server);
      const base = await baseOf();
      const sessions = toSessions(await client.call("/api/sessions"));
      const idle = sessions.filter(
        ({ path, kernel }) =>
          path.startsWith(`${base}/`) &&
          kernel.execution_state !== "busy" &&
          Date.now() - Date.parse(kernel.last_activity) > idleMs,
      );
      await Promise.all(idle.map(({ id }) => client.call(`/api/sessions/${id}`, { method: "DELETE" })));
    },
  };
}

interface Session {
  readonly id: string;
  readonly path: string;
  readonly kernel: { readonly id: string; readonly last_activity: string; readonly execution_state: string };
}

function toSessions(answer: unknown): Session[] {
  return (Array.isArray(answer) ? (answer as Session[]) : []).filter(
    (one) => typeof one?.path === "string" && typeof one.kernel?.id === "string",
  );
}

async function runOnce(client: JupyterClient, { code, timeoutMs, signal }: JupyterRun): Promise<RunResult> {
  const kernel = (await client.call("/api/kernels", { method: "POST", body: {}, signal })) as {
    id?: unknown;
  };
  const kernelId = requireId(kernel?.id);
  try {
    return await runInKernel(client, { kernelId, code, timeoutMs, signal });
  } finally {
    await client.call(`/api/kernels/${kernelId}`, { method: "DELETE" }).catch(() => undefined);
  }
}

async function runInChat(
  client: JupyterClient,
  { code, files, timeoutMs, signal }: JupyterRun,
  path: string,
): Promise<RunResult> {
  signal.throwIfAborted();
  const folder = openFolder(client, path);
  await folder.fill((await files?.()) ?? []);
  const body = {
    path: `${path}/chat.ipynb`,
    name: "chat",
    type: "notebook",
    kernel: { name: "" },
  };
  const session = await client.call("/api/sessions", { method: "POST", body, signal });
  const kernelId = requireId((session as Session | undefined)?.kernel?.id);
  const before = await folder.list();
  const result = await runInKernel(client, { kernelId, code, timeoutMs, signal });
  return { ...result, files: [...result.files, ...(await folder.changedSince(before))] };
}

function requireId(id: unknown): string {
  if (typeof id !== "string") {
    throw new AppError("upstream", "The Jupyter server started no kernel.");
  }
  return encodeURIComponent(id);
}

async function enqueue<T>(
  queues: Map<string, Promise<unknown>>,
  key: string,
  run: () => Promise<T>,
): Promise<T> {
  const turn = (queues.get(key) ?? Promise.resolve()).then(run, run);
  queues.set(key, turn);
  try {
    return await turn;
  } finally {
    if (queues.get(key) === turn) {
      queues.delete(key);
    }
  }
}

/** A name for paths that tells nothing of ids. */
const toName = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 24);
