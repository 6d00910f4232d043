import { parentPort } from "node:worker_threads";
import { letOthersGoFirst } from "#storage/thread-priority.ts";
import { DocumentProblem } from "../formats/problem.ts";
import { readDocument } from "../formats/read.ts";
import type { Reply, Request } from "./protocol.ts";

// Documents are read in a thread of its own because their formats block the thread for seconds, and may not come back.

const port = parentPort!;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
const post = (reply: Reply) => port.postMessage(reply);
let pieces: Uint8Array[] = [];

letOthersGoFirst();

port.on("message", (request: Request) => {
  if (request.kind === "bytes") {
    pieces.push(request.bytes);
    return;
  }
  const { name, type, limits } = request;
  const bytes = Buffer.concat(pieces);
  pieces = [];
  readDocument({ bytes, name, type }, limits).then(
    (found) => post({ kind: "done", found }),
    (error: unknown) => post(toReply(error)),
  );
});

function toReply(error: unknown): Reply {
  if (error instanceof DocumentProblem) {
    return { kind: "refused", reason: error.message };
  }
  if (error instanceof RangeError) {
    // The stack ended, or a string or an array would become larger than the engine allows.
    return { kind: "refused", reason: "The document is nested too deeply or too large to be read." };
  }
  return { kind: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
