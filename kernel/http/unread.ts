import type { IncomingMessage, ServerResponse } from "node:http";
import { drain } from "./drain.ts";
import { type RespondContext, writeHead } from "./head.ts";
import type { WholeBody } from "./respond.ts";

/**
 * Answers a request whose body has not arrived in full, and ends the connection when the sender has stopped: closing it
 * earlier resets it, and the sender loses the answer. Whoever drips is not waited for.
 */
export async function writeUnread(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  { status, headers, body }: WholeBody,
  context: RespondContext,
): Promise<void> {
  // The rest of the body would be taken for the next request of the connection.
  const last = { ...headers, connection: "close", "content-length": Buffer.byteLength(body) };
  writeHead(res, { status, headers: last }, context);
  if (status !== 408) {
    res.write(body);
    await drain(req);
  }
  res.end(status === 408 ? body : undefined);
}
