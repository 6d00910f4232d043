import { AppError } from "#kernel/errors.ts";
import { isText } from "#plugins/files/service.ts";
import type { ReadingPool } from "./pool/pool.ts";
import type { Extraction, Extractor, SourceDocument } from "./service.ts";

const headSize = 4096;

/**
 * Asks the extractors of plugins first, then reads the document here. Recordings that none of them accepts fail with the
 * reason, because people expect their words to be found.
 */
export function createExtraction(pool: ReadingPool, extractors: () => readonly Extractor[]): Extraction {
  return {
    async extract(document, signal) {
      const head = await readHead(document);
      const chosen = extractors().find((candidate) => candidate.accepts(document, head));
      if (chosen !== undefined) {
        return await chosen.extract(document, signal);
      }
      if (isRecording(document)) {
        throw new AppError(
          "unprocessable",
          "No engine is set up that turns speech into text, so this recording has none.",
        );
      }
      return await pool.read(document, signal);
    },
  };
}

/** True for sound and films. `.ts` is a film to the registry of media types and source code to everybody else. */
export function isRecording({ name, type }: Pick<SourceDocument, "name" | "type">): boolean {
  return /^(audio|video)\//.test(type) && !isText(type, name);
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
