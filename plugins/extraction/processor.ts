import { createHash } from "node:crypto";
import type { FileProcessor, FileRecord } from "#plugins/files/service.ts";
import type { Extraction } from "./service.ts";

/**
 * Gives stored files their text (Core API, Files and knowledge). Pictures keep none, and bytes that are no documents
 * neither.
 */
export function createProcessor(extraction: Extraction, settings: () => unknown): FileProcessor {
  return {
    id: "extraction",
    accepts: (file) => !typeOf(file).startsWith("image/"),

    /** What decides the result beside the bytes. */
    fingerprint: (file) =>
      createHash("sha256")
        .update(
          JSON.stringify([version, endingOf(file.filename), typeOf(file), languageOf(file), settings()]),
        )
        .digest("base64url"),

    async process({ file, content, open, signal }) {
      if (content !== undefined) {
        return {};
      }
      const facts = {
        name: file.filename,
        type: typeOf(file),
        language: languageOf(file),
        userId: file.user_id,
      };
      const document = { ...facts, open };
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

/** The language of a recording, which uploads may tell in their form field `metadata`. */
function languageOf({ meta }: FileRecord): string | undefined {
  const language = (meta.data as { readonly language?: unknown } | undefined)?.language;
  return typeof language === "string" && language !== "" ? language.slice(0, 40) : undefined;
}
