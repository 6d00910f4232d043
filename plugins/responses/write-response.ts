import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { Response } from "./response.ts";
import type { ResponseWriter } from "./response-writer.ts";

/** The events of a streamed answer. A stream that breaks off ends with `response.failed`. */
export async function* toFrames(
  batches: AsyncIterable<ChunkBatch>,
  writer: ResponseWriter,
  { signal, requestId, stored }: { signal: AbortSignal; requestId: string; stored(): Promise<void> },
): AsyncGenerator<string> {
  writer.begin();
  yield writer.flush();
  try {
    for await (const batch of batches) {
      batch.forEach((chunk) => writer.add(chunk));
      const frames = writer.flush();
      if (frames !== "") {
        yield frames;
      }
    }
    writer.end();
  } catch (error) {
    if (signal.aborted) {
      throw error;
    }
    writer.fail(error, requestId);
  }
  // Before the last event: clients may name its items at once.
  await stored();
  yield writer.flush();
}

/** The whole answer; throws what its batches throw. */
export async function toResponse(
  batches: AsyncIterable<ChunkBatch>,
  writer: ResponseWriter,
  stored: () => Promise<void>,
): Promise<Response> {
  for await (const batch of batches) {
    batch.forEach((chunk) => writer.add(chunk));
  }
  writer.end();
  await stored();
  return writer.response;
}
