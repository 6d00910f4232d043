import type { Chunk, CompletionMessage, Usage } from "#kernel/completion/chunk.ts";
import { createAccumulator } from "#kernel/completion/accumulate.ts";

/** What a run learns of a stream that it passes on without looking into it. */
export interface Observation {
  readonly usage: Usage | undefined;
  /** Only when the whole reply was asked for. */
  readonly message: CompletionMessage | undefined;
}

export interface Observer {
  tap(piece: Buffer): void;
  /** Parses what was kept, once, after the last byte. */
  conclude(): Observation;
}

/** Usage stands in the last frames; this much of the end always holds them. */
const tailBytes = 16 * 1024;
/** A reply longer than this is not rebuilt for outlet filters. */
const replyBytes = 16 * 1024 * 1024;

/**
 * Watches raw Server-Sent Events on their way: only references are kept while the stream runs, and parsing happens
 * after its end. `wantsReply` keeps the whole text (for outlet filters), else only its tail (for usage).
 */
export function createObserver(wantsReply: boolean): Observer {
  const limit = wantsReply ? replyBytes : tailBytes;
  let pieces: Buffer[] = [];
  let size = 0;
  let first = 0;
  let isCut = false;
  return {
    tap(piece) {
      pieces.push(piece);
      size += piece.length;
      while (size - (pieces[first]?.length ?? 0) > limit && first < pieces.length - 1) {
        size -= (pieces[first] as Buffer).length;
        first += 1;
        isCut = true;
      }
      if (first > 256) {
        pieces = pieces.slice(first);
        first = 0;
      }
    },
    conclude() {
      if (!wantsReply) {
        const usage = findUsage(Buffer.concat(pieces.slice(first)).toString("utf8"));
        pieces = [];
        return { usage, message: undefined };
      }
      const accumulator = createAccumulator();
      for (const chunk of toChunks(Buffer.concat(pieces.slice(first)).toString("utf8"))) {
        accumulator.add(chunk);
      }
      pieces = [];
      return {
        usage: accumulator.usage(),
        message: wantsReply && !isCut ? accumulator.message() : undefined,
      };
    },
  };
}

/** The last usage block; only the lines that may hold one are parsed. */
function findUsage(text: string): Usage | undefined {
  let start = 0;
  // A line is looked at once, however often it has the word.
  for (let at = text.lastIndexOf('"usage"'); at > 0; at = text.lastIndexOf('"usage"', start - 1)) {
    const end = text.indexOf("\n", at);
    start = text.lastIndexOf("\n", at) + 1;
    const line = text.slice(start, end < 0 ? undefined : end);
    for (const chunk of /"usage"\s*:\s*null/.test(line) ? [] : toChunks(line)) {
      if (chunk.usage) {
        return chunk.usage;
      }
    }
  }
  return undefined;
}

function* toChunks(text: string): Generator<Chunk> {
  for (const line of text.split("\n")) {
    if (!line.startsWith("data:") || line.includes("[DONE]")) {
      continue;
    }
    try {
      yield JSON.parse(line.slice(5)) as Chunk;
    } catch {
      // The tail may begin inside a frame, and an upstream may break off inside one.
    }
  }
}
