import { createLineJoiner } from "./line-joiner.ts";

const closed = -32_000;

/**
 * Ends a broken event stream with an error for the request that it answers. The SDK resumes streams whose events carry
 * ids, and would wait for ever for an answer on any other.
 */
export function guardAnswer(response: Response, body: unknown): Response {
  const id = requestIdOf(body);
  if (response.body === null || !isEventStream(response)) {
    return response;
  }
  const lines = response.body.pipeThrough(createLineJoiner());
  const guarded = id === undefined ? lines : withEnd(lines, id);
  const { status, statusText, headers } = response;
  return new Response(guarded as ReadableStream, { status, statusText, headers });
}

function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false;
}

function requestIdOf(body: unknown): string | number | undefined {
  if (typeof body !== "string") {
    return undefined;
  }
  const message = JSON.parse(body) as { id?: string | number; method?: string };
  return message.method === undefined ? undefined : message.id;
}

function withEnd(lines: ReadableStream<Uint8Array>, id: string | number): ReadableStream<Uint8Array> {
  const reader = lines.getReader();
  let isResumable = false;
  const error = { code: closed, message: "The server closed the connection before it answered." };
  const end = Buffer.from(`\n\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, error })}\n\n`);
  return new ReadableStream({
    async pull(controller) {
      const next = await reader.read().catch((cause: unknown) => ({ cause }));
      if ("cause" in next || next.done) {
        if (!isResumable) {
          controller.enqueue(end);
        }
        controller.close();
        return;
      }
      isResumable ||= hasEventId(next.value);
      controller.enqueue(next.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Only the first bytes of a piece are looked at: ids stand before the data of their event. */
function hasEventId(piece: Uint8Array): boolean {
  return /(^|\n)id:/.test(Buffer.from(piece.subarray(0, 4096)).toString("latin1"));
}
