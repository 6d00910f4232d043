import { createAccumulator, firstChoice } from "./accumulate.ts";
import type { ChunkChoice, Completion, CompletionMessage, Delta } from "./chunk.ts";
import type { ChunkBatch } from "./provider.ts";
import { normalizeChunk } from "./normalize-chunk.ts";

/** A whole answer as a stream of one chunk, for a caller who reads chunks. */
export async function* streamCompletion({ choices, ...rest }: Completion): AsyncGenerator<ChunkBatch> {
  const pieces = (choices ?? []).map(({ message, ...choice }) => ({ ...choice, delta: toDelta(message) }));
  yield [normalizeChunk({ ...rest, object: "chat.completion.chunk", choices: pieces })];
}

/** The whole answer that chunks make up, of its first choice, for a caller who does not read a stream. */
export async function collectCompletion(batches: AsyncIterable<ChunkBatch>): Promise<Completion> {
  const accumulator = createAccumulator();
  // What upstreams tell of the end besides, such as the sequence that stopped the model.
  const told: Partial<ChunkChoice> = {};
  for await (const batch of batches) {
    for (const chunk of batch) {
      accumulator.add(chunk);
      const choice = firstChoice(chunk.choices);
      if (choice?.finish_reason) {
        Object.assign(told, choice);
      }
    }
  }
  const { delta: _delta, ...choice } = told;
  return {
    object: "chat.completion",
    choices: [{ ...choice, index: 0, message: accumulator.message() }],
    usage: accumulator.usage() ?? null,
  };
}

/** Calls have a position in chunks. */
function toDelta({ tool_calls: calls, ...message }: CompletionMessage): Delta {
  return { ...message, ...(calls && { tool_calls: calls.map((call, index) => ({ ...call, index })) }) };
}
