import type { Readable } from "node:stream";
import type { Principal } from "#kernel/access/principal.ts";
import { defineService, defineSlot } from "#kernel/service.ts";

/** A file record as the wire shows it. */
export interface FileRecord {
  id: string;
  user_id: string;
  hash: string | null;
  filename: string;
  data: Record<string, unknown>;
  meta: Record<string, unknown>;
  created_at: number;
  updated_at: number;
}

/** What a processor gets: the record and its bytes. */
export interface FileProcessing {
  readonly file: FileRecord;
  open(): Promise<Readable>;
  readonly signal: AbortSignal;
}

/** Turns stored bytes into text; the first processor that accepts a file takes it. */
export interface FileProcessor {
  readonly id: string;
  accepts(file: FileRecord): boolean;
  /** Resolves to what is merged into `data` (`content` and further keys). A rejection fails the file with its message. */
  process(processing: FileProcessing): Promise<Record<string, unknown>>;
}

/** Filled by retrieval and others; with none, text files yield their text and others complete without content. */
export const fileProcessors = defineSlot<FileProcessor>("files.processors");

/** Says which files a caller may read through what refers to them (knowledge, chats, channels, notes, models, folders). */
export interface FileReferences {
  readonly id: string;
  isReachable(principal: Principal, fileId: string, action: "read" | "write"): Promise<boolean>;
}

export const fileReferences = defineSlot<FileReferences>("files.references");

export interface Files {
  /** Loads the record for the caller. Throws `not_found` or `forbidden`. */
  load(principal: Principal, id: string, action: "read" | "write"): Promise<FileRecord>;
  /** The stored bytes of a record that was loaded. */
  open(file: FileRecord): Promise<Readable>;
  /** Stores bytes as a new file of the caller. */
  create(principal: Principal, file: { filename: string; contentType: string; bytes: Readable; meta?: Record<string, unknown> }): Promise<FileRecord>;
  remove(principal: Principal, id: string): Promise<void>;
}

export const files = defineService<Files>("files");
