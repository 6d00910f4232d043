import type { ReadingPool } from "./pool/pool.ts";
import type { Extraction, Extractor, SourceDocument } from "./service.ts";

const headSize = 4096;

/** Asks the extractors of plugins first, then reads the document here. */
export function createExtraction(pool: ReadingPool, extractors: () => readonly Extractor[]): Extraction {
  return {
    async extract(document, signal) {
      const head = await readHead(document);
      const chosen = extractors().find((candidate) => candidate.accepts(document, head));
      return chosen ? chosen.extract(document, signal) : pool.read(document, signal);
    },
  };
}

async function readHead(document: SourceDocument): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of (await document.open()) as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    size += piece.length;
    if (size >= headSize) {
      break;
    }
  }
  return Buffer.concat(pieces).subarray(0, headSize);
}
