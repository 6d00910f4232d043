import { createHash } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import type { FileProcessor, FileRecord } from "#plugins/files/service.ts";
import { isText } from "#plugins/files/service.ts";
import type { Extraction } from "./service.ts";

/**
 * Gives stored files their text (Core API, Files and knowledge). Pictures keep none, and bytes that are no documents
 * neither; recordings fail with the reason, because people expect their words to be found.
 */
export function createProcessor(extraction: Extraction, settings: () => unknown): FileProcessor {
  return {
    id: "extraction",
    accepts: (file) => !typeOf(file).startsWith("image/"),

    /** What decides the result beside the bytes. */
    fingerprint: (file) =>
      createHash("sha256")
        .update(JSON.stringify([version, endingOf(file.filename), typeOf(file), settings()]))
        .digest("base64url"),

    async process({ file, content, open, signal }) {
      if (content !== undefined) {
        return {};
      }
      refuseRecording(file);
      const document = { name: file.filename, type: typeOf(file), open };
      const found = await extraction.extract(document, signal);
      if (found === undefined) {
        return {};
      }
      const { text, places, truncated, skipped } = found;
      return {
        content: text,
        ...(places.length > 0 ? { places } : {}),
        ...(truncated ? { truncated } : {}),
        ...(skipped?.length ? { skipped } : {}),
      };
    },
  };
}

/** Raised when readers find more or other text in the same bytes. */
const version = 1;

const typeOf = (file: FileRecord) =>
  typeof file.meta.content_type === "string" ? file.meta.content_type : "";

const endingOf = (name: string) => name.slice(name.lastIndexOf(".") + 1).toLowerCase();

function refuseRecording(file: FileRecord): void {
  const type = typeOf(file);
  // `.ts` is a video to the registry of media types and source code to everybody else.
  if (/^(audio|video)\//.test(type) && !isText(type, file.filename)) {
    throw new AppError(
      "unprocessable",
      "No engine is set up that turns speech into text, so this recording has none.",
    );
  }
}
