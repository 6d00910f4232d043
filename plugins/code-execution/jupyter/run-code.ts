import { randomUUID } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import type { WebSocket } from "#kernel/egress/egress.ts";
import type { RunResult } from "../run-result.ts";
import type { JupyterClient } from "./client.ts";
import { createCollector } from "./collect.ts";
import { type KernelMessage, parseKernelMessage, toExecuteRequest, toInfoRequest } from "./messages.ts";

export interface KernelRun {
  readonly kernelId: string;
  readonly code: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Time for a kernel to end a run after it was interrupted. */
const interruptMs = 3_000;

/** A kernel that starts is asked as often, with so much time between. */
const mostInfoRequests = 30;
const infoMs = 500;

type End = "done" | "died" | "lost" | "late" | "full" | "aborted";

const notes: Readonly<Partial<Record<End, string>>> = {
  died: "The kernel died, most often because its memory ran out. It was started again, without its variables.",
  lost: "The connection to the Jupyter server broke.",
  full: "The code printed more than is kept and was stopped.",
};

/**
 * Runs code in a kernel. A run that takes too long, prints without end or is given up is interrupted; a kernel that
 * does not listen to that is started again. Rejects with the signal's reason when that aborts.
 */
export async function runInKernel(client: JupyterClient, run: KernelRun): Promise<RunResult> {
  const { kernelId, code, timeoutMs, signal } = run;
  const session = randomUUID();
  const socket = await client.open(`/api/kernels/${kernelId}/channels?session_id=${session}`, signal);
  try {
    const collector = createCollector();
    const request = toExecuteRequest(code, session);
    const watch = watchRun(socket, request.id, (message) => {
      collector.add(message);
      return collector.isFull;
    });
    socket.resume();
    await whenReady(socket, session, signal);
    socket.send(request.text);
    const end = await Promise.race([watch.ended, wait(timeoutMs, "late" as const), untilAborted(signal)]);
    if (end === "late" || end === "full" || end === "aborted") {
      await interrupt(client, kernelId, watch.ended);
    }
    signal.throwIfAborted();
    if (end === "late") {
      const note = `The code ran longer than ${Math.round(timeoutMs / 1000)} seconds and was stopped.`;
      return collector.result("timeout", note);
    }
    return collector.result(end === "done" ? "success" : "error", notes[end]);
  } finally {
    socket.close();
  }
}

/**
 * Waits for a kernel that starts, the first time or after a death: what it is sent meanwhile is lost, and so is what it
 * publishes before the server has subscribed. It is asked until both its answer and its published state arrive. One that
 * stays silent is left to the time limit of the run.
 */
async function whenReady(socket: WebSocket, session: string, signal: AbortSignal): Promise<void> {
  const { promise: answered, resolve } = Promise.withResolvers<boolean>();
  const asked = new Set<string | undefined>();
  const missing = new Set(["kernel_info_reply", "status"]);
  const observe = ({ data }: { data: unknown }) => {
    const message = parseKernelMessage(data);
    if (message !== undefined && asked.has(message.parentId)) {
      missing.delete(message.type);
    }
    if (missing.size === 0) {
      resolve(true);
    }
  };
  const isOver = () => signal.aborted || socket.readyState !== socket.OPEN;
  socket.addEventListener("message", observe);
  try {
    while (asked.size < mostInfoRequests && !isOver()) {
      const request = toInfoRequest(session);
      asked.add(request.id);
      socket.send(request.text);
      if (await Promise.race([answered, wait(infoMs, false)])) {
        return;
      }
    }
  } finally {
    socket.removeEventListener("message", observe);
  }
}

/** Follows one run until its reply and the kernel's rest have both come, in whichever order. */
function watchRun(socket: WebSocket, id: string, add: (message: KernelMessage) => boolean) {
  const { promise, resolve } = Promise.withResolvers<End>();
  let isReplied = false;
  let isIdle = false;
  socket.addEventListener("message", ({ data }) => {
    const message = parseKernelMessage(data);
    const state = message?.type === "status" ? message.content["execution_state"] : undefined;
    // The server itself tells of a death: that belongs to no request.
    if (state === "dead" || state === "restarting" || state === "autorestarting") {
      resolve("died");
    }
    if (message === undefined || message.parentId !== id) {
      return;
    }
    isReplied ||= message.type === "execute_reply";
    isIdle ||= state === "idle";
    if (add(message)) {
      resolve("full");
    }
    if (isReplied && isIdle) {
      resolve("done");
    }
  });
  socket.addEventListener("close", () => resolve("lost"));
  return { ended: promise };
}

async function interrupt(client: JupyterClient, kernelId: string, ended: Promise<End>): Promise<void> {
  const path = `/api/kernels/${kernelId}`;
  try {
    await client.call(`${path}/interrupt`, { method: "POST" });
    if ((await Promise.race([ended, wait(interruptMs, "late" as const)])) === "late") {
      await client.call(`${path}/restart`, { method: "POST" });
    }
  } catch (error) {
    if (!(error instanceof AppError)) {
      throw error;
    }
    // A server that does not answer stops nothing; idle kernels are shut down later.
  }
}

function wait<T>(ms: number, value: T): Promise<T> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value), ms).unref();
  });
}

function untilAborted(signal: AbortSignal): Promise<"aborted"> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve("aborted");
    }
    signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
}
