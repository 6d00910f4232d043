import type { Chunk, ChunkChoice } from "#kernel/completion/chunk.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";

/** Joins the deltas of one stream. */
export interface DeltaJoiner {
  /** Takes a batch and returns what may go out now. */
  add(batch: ChunkBatch): ChunkBatch;
  /** What was held back when the stream ended. */
  end(): ChunkBatch;
}

/**
 * Joins text deltas until `size` of them have come (CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE). Everything that is not
 * plain text of the first choice goes out at once, after the text that came before it.
 */
export function createDeltaJoiner(size: number): DeltaJoiner {
  let held: Chunk | undefined;
  let text = "";
  let count = 0;

  const release = (out: Chunk[]) => {
    if (held !== undefined) {
      out.push(withText(held, text));
      held = undefined;
      text = "";
      count = 0;
    }
  };

  return {
    add(batch) {
      const out: Chunk[] = [];
      for (const chunk of batch) {
        const piece = toPlainText(chunk);
        if (piece === undefined) {
          release(out);
          out.push(chunk);
          continue;
        }
        held ??= chunk;
        text += piece;
        count += 1;
        if (count >= size) {
          release(out);
        }
      }
      return out;
    },
    end() {
      const out: Chunk[] = [];
      release(out);
      return out;
    },
  };
}

/** The text of a chunk that carries nothing else; undefined for every other chunk. */
function toPlainText(chunk: Chunk): string | undefined {
  const choice = chunk.choices?.[0];
  if (choice === undefined || chunk.choices?.length !== 1 || choice.finish_reason || chunk.usage) {
    return undefined;
  }
  const { delta } = choice;
  if (typeof delta?.content !== "string" || delta.content === "") {
    return undefined;
  }
  for (const key in delta) {
    if (key !== "content" && key !== "role" && delta[key] !== null) {
      return undefined;
    }
  }
  return delta.content;
}

function withText(chunk: Chunk, text: string): Chunk {
  const choice = chunk.choices?.[0] as ChunkChoice;
  return { ...chunk, choices: [{ ...choice, delta: { ...choice.delta, content: text } }] };
}
