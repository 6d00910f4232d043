import { parentPort, workerData } from "node:worker_threads";
import { letOthersGoFirst } from "../thread-priority.ts";
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
