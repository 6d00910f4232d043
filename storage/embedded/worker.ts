import { readlinkSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { basename } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { openPglite } from "./pglite.ts";
import { toPlainError, type Reply, type Request, type WorkerOptions } from "./protocol.ts";
import { Session } from "./session.ts";

// The database runs in a thread of its own because a statement blocks the thread it runs on.

const port = parentPort!;
const options = workerData as WorkerOptions;
const post = (reply: Reply) => port.postMessage(reply);

letOthersGoFirst();

try {
  const database = await openPglite(options);
  database.onNotification((channel, payload) => post({ kind: "notification", channel, payload }));
  const session = new Session(database, options.folder);
  port.on("message", (request: Request) => {
    session.answer(request).then(
      (result) => post({ kind: "done", id: request.id, result }),
      (error: unknown) => post({ kind: "failed", id: request.id, error: toPlainError(error) }),
    );
  });
  post({ kind: "opened", hasVector: true });
} catch (error) {
  post({ kind: "refused", error: toPlainError(error) });
}

/**
 * Where the event loop wants the same processor as a statement, the event loop has it: many wait for each of its turns,
 * which are short. Linux gives each thread a priority of its own; elsewhere all stay alike.
 */
function letOthersGoFirst(): void {
  try {
    const thread = Number(basename(readlinkSync("/proc/thread-self")));
    const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;
    setPriority(thread, Math.min(PRIORITY_LOW, getPriority(thread) + PRIORITY_BELOW_NORMAL));
  } catch {
    // A system that does not let a thread step back is slower under load, and right all the same.
  }
}
