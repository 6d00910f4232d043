import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { Response } from "./response.ts";
import type { ResponseWriter } from "./response-writer.ts";

/** The events of a streamed answer, as they are written. A stream that breaks off ends with `response.failed`. */
export async function* toFrames(
  batches: AsyncIterable<ChunkBatch>,
  writer: ResponseWriter,
  { signal, requestId, ended }: { signal: AbortSignal; requestId: string; ended(): Promise<void> },
): AsyncGenerator<string> {
  writer.begin();
  yield writer.take();
  try {
    for await (const batch of batches) {
      batch.forEach((chunk) => writer.add(chunk));
      const frames = writer.take();
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
  // Before the last event goes out: what it tells of may be named at once.
  await ended();
  yield writer.take();
}

/** The whole answer; throws what its batches throw. */
export async function toResponse(
  batches: AsyncIterable<ChunkBatch>,
  writer: ResponseWriter,
  ended: () => Promise<void>,
): Promise<Response> {
  for await (const batch of batches) {
    batch.forEach((chunk) => writer.add(chunk));
  }
  writer.end();
  await ended();
  return writer.response;
}
