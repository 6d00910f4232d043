import type { Chunk, CompletionMessage, Usage } from "#kernel/completion/chunk.ts";
import { createAccumulator } from "#kernel/completion/accumulate.ts";
import { ChunkNormalizer, isObject } from "#kernel/completion/normalize-chunk.ts";

/** The reply that a stream carried which was passed on without looking into it. */
export interface Observation {
  readonly usage: Usage | undefined;
  /** Undefined for a reply that was too long to be rebuilt. */
  readonly message: CompletionMessage | undefined;
}

export interface Observer {
  tap(piece: Buffer): void;
  /** Parses what was kept, once, after the last byte. */
  finish(): Observation;
}

/** A reply longer than this is not rebuilt for outlet filters. */
const replyBytes = 16 * 1024 * 1024;

/** Keeps raw Server-Sent Events by reference while they pass; they are parsed after their end. */
export function createObserver(): Observer {
  let pieces: Buffer[] = [];
  let size = 0;
  return {
    tap(piece) {
      size += piece.length;
      if (size <= replyBytes) {
        pieces.push(piece);
      } else {
        pieces = [];
      }
    },
    finish() {
      if (size > replyBytes) {
        return { usage: undefined, message: undefined };
      }
      const accumulator = createAccumulator();
      for (const chunk of toChunks(Buffer.concat(pieces).toString("utf8"))) {
        accumulator.add(chunk);
      }
      pieces = [];
      return { usage: accumulator.usage(), message: accumulator.message() };
    },
  };
}

function* toChunks(text: string): Generator<Chunk> {
  const normalizer = new ChunkNormalizer();
  for (const line of text.split(/\r\n|[\r\n]/)) {
    if (!line.startsWith("data:") || line.includes("[DONE]")) {
      continue;
    }
    const value = parse(line.slice(5));
    if (isObject(value)) {
      yield normalizer.normalize(value);
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // An upstream may break off inside a frame.
    return undefined;
  }
}
