import type { UnpackBudget } from "../zip/zip.ts";
import type { TextBuilder } from "./text-builder.ts";

/** Bytes with what is known of them. */
export interface Source {
  readonly bytes: Uint8Array;
  readonly name: string;
  /** Media type, lower-case; "" when unknown. */
  readonly type: string;
}

/** What one uploaded file may take. */
export interface ReadingLimits {
  /** Pages of a PDF. */
  readonly pages: number;
  /** Members of archives, over all levels. */
  readonly members: number;
  /** Unpacked bytes, over all levels. */
  readonly unpackedBytes: number;
  /** Characters of the text. */
  readonly characters: number;
}

/** The reading of one uploaded file, over all documents in it. */
export interface Reading {
  readonly builder: TextBuilder;
  readonly budget: UnpackBudget;
  readonly limits: ReadingLimits;
  readonly skipped: { part: string; reason: string }[];
  /** Reads a document within the document. */
  nested(source: Source): Promise<void>;
}

/** Adds the text of a document to the builder. Throws DocumentProblem. */
export type DocumentReader = (source: Source, reading: Reading) => Promise<void> | void;
