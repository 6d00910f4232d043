import type { Readable } from "node:stream";
import { defineService, defineSlot } from "#kernel/service.ts";
import type { TextPlace } from "#plugins/files/service.ts";

export { DocumentProblem } from "./formats/problem.ts";
export { openZip, type ZipMember } from "./zip/zip.ts";

/** A document whose text is wanted. */
export interface SourceDocument {
  /** For its ending and for messages; never a path of this machine. */
  readonly name: string;
  /** Media type as the client or the server that sent it said; "" when unknown. */
  readonly type: string;
  /** Of what is spoken in it, as its sender said, such as `de`. */
  readonly language?: string | undefined;
  /** The account that it belongs to; undefined for documents of nobody. */
  readonly userId?: string | undefined;
  /** Opens the bytes; may be called more than once. */
  open(): Promise<Readable>;
}

export interface ExtractedText {
  /** At most `maxTextLength` of the files plugin, in UTF-16 units. */
  readonly text: string;
  /** Where its pieces stand in the document, by `start`; empty where a document has no such parts. */
  readonly places: readonly TextPlace[];
  /** True when the document went on behind what is kept. */
  readonly truncated?: boolean;
  /** Members of an archive, or attachments, that gave no text. */
  readonly skipped?: readonly { readonly part: string; readonly reason: string }[];
}

/** Reads the text of one kind of document. */
export interface Extractor {
  readonly id: string;
  /** Decides by name, media type and the first bytes (at most 4 KB). */
  accepts(document: Pick<SourceDocument, "name" | "type">, head: Uint8Array): boolean;
  /** Settings that change its results: the same bytes are read again when they differ. Keys are none. */
  facts?(): unknown;
  /**
   * Rejects with an AppError of code `unprocessable` or `too_large` whose detail says what is wrong with the document,
   * in words for the person who sent it; other rejections count as a fault of the extractor, which is asked again.
   */
  extract(document: SourceDocument, signal: AbortSignal): Promise<ExtractedText>;
}

/** Filled by plugins that read further kinds of documents, or read known ones better: they are asked first. */
export const extractors = defineSlot<Extractor>("extraction.extractors");

export interface Extraction {
  /**
   * The text of a document; undefined for bytes that are no document, such as programs and pictures. Rejects as
   * extractors do.
   */
  extract(document: SourceDocument, signal: AbortSignal): Promise<ExtractedText | undefined>;
}

/** Reads documents that are no stored files, such as those that a web search finds. */
export const extraction = defineService<Extraction>("extraction");
