import type { Logger } from "#kernel/log.ts";
import type { RetrievalSettings } from "../config.ts";
import { split } from "../passages/split.ts";
import type { NewSource, SourceStore } from "./source-store.ts";

export interface WriterParts {
  readonly settings: RetrievalSettings;
  readonly store: SourceStore;
  readonly log: Logger;
  /** The text search configuration of a text. */
  detect(text: string): Promise<string>;
}

/** Passages that are stored with one statement. */
const batchSize = 100;

/**
 * Cuts a text and stores its passages: once this resolves, they are found by their words. Resolves to false when the
 * item was removed meanwhile.
 */
export async function writeSource(
  { settings, store, log, detect }: WriterParts,
  given: Omit<NewSource, "language">,
): Promise<boolean> {
  const language = await detect(given.content.slice(0, 8_000)).catch((error: unknown) => {
    log.warn({ err: error }, "the language of a text could not be detected");
    return "simple";
  });
  const pieces = await split(given.content, given.places, {
    unit: settings.splitter === "token" ? "token" : "character",
    size: settings.chunkSize,
    overlap: settings.chunkOverlap,
    minSize: settings.chunkMinSize,
    hasHeadings: settings.markdownHeaders && mayHaveHeadings(given.name),
  });
  const sourceId = await store.begin({ ...given, language });
  try {
    for (let at = 0; at < pieces.length; at += batchSize) {
      await store.addPassages(sourceId, { pieces: pieces.slice(at, at + batchSize), position: at, language });
    }
    return await store.publish(sourceId, given.itemId);
  } finally {
    await store.sweep(3600, [given.itemId]);
  }
}

/** Endings of documents whose text is Markdown, or is extracted as such; in code `#` begins a comment. */
const withHeadings = new Set("md markdown mdx html htm docx odt epub pptx odp pdf rtf eml msg".split(" "));

function mayHaveHeadings(name: string): boolean {
  const dot = name.lastIndexOf(".");
  return dot < 0 || name.includes(" ", dot) || withHeadings.has(name.slice(dot + 1).toLowerCase());
}
