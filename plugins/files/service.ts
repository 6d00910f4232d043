import type { Readable } from "node:stream";
import type { Principal } from "#kernel/access/principal.ts";
import { defineService, defineSlot } from "#kernel/service.ts";

/** A file record as the wire shows it. */
export interface FileRecord {
  id: string;
  user_id: string;
  /** SHA-256 of the stored bytes in hex. */
  hash: string | null;
  /** For display only: never a path, never a key. */
  filename: string;
  /** Key of the stored bytes, which opens nothing by itself; left out in lists. */
  path?: string | null;
  /** `{status: "pending" | "completed" | "failed", content?, error}` and what processors add. */
  data: Record<string, unknown>;
  /** `{name, content_type, size, file_hash, data, collection_name}` and further keys. */
  meta: Record<string, unknown>;
  created_at: number;
  updated_at: number;
}

/** What a processor gets: the record and its bytes. */
export interface FileProcessing {
  readonly file: FileRecord;
  /** The text set by hand: it replaces what would be extracted. */
  readonly content: string | undefined;
  open(): Promise<Readable>;
  /** Aborted when the time for the file is over; what comes later is dropped. */
  readonly signal: AbortSignal;
}

/** Turns stored bytes into text; the first processor that accepts a file takes it. */
export interface FileProcessor {
  readonly id: string;
  accepts(file: FileRecord): boolean;
  /**
   * Resolves to what is merged into `data` (`content` and further keys). A rejection is tried again; an AppError
   * that blames the file (`invalid`, `unprocessable`, `too_large`, `not_found`) fails it at once. The detail of
   * an AppError is shown to the user, other messages are not.
   */
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

/** Follows what becomes of files. */
export interface FileObserver {
  readonly id: string;
  /**
   * Runs after the content was found and before the file counts as completed; may run twice for one file. A
   * rejection is treated like one of the processor's.
   */
  processed?(file: FileRecord): Promise<void>;
  /** Runs once the rows are gone; a rejection is logged. */
  removed?(files: readonly FileRecord[]): Promise<void>;
}

export const fileObservers = defineSlot<FileObserver>("files.observers");

/** Knows which files a chat has; filled by the plugin that stores chats. */
export interface ChatFileLists {
  /** Ids of the files of a chat, in its order; none for a chat that is not the owner's. */
  list(owner: Principal, chatId: string): Promise<readonly string[]>;
}

export const chatFileLists = defineSlot<ChatFileLists>("files.of-chats");

/** A piece of a file's text that fits a question. */
export interface Passage {
  readonly fileId: string;
  readonly content: string;
  /** From 0 to 1, which is best. */
  readonly score: number;
}

/** Finds the pieces of files that answer a question, better than by words alone. */
export interface PassageSearch {
  /** The files are the caller's to read; the best come first. */
  search(question: {
    readonly principal: Principal;
    readonly files: readonly FileRecord[];
    readonly query: string;
    readonly count: number;
    readonly signal: AbortSignal;
  }): Promise<readonly Passage[]>;
}

/** Filled by a plugin that knows what texts mean; the first counts. Without one, words are searched for. */
export const passageSearches = defineSlot<PassageSearch>("files.passage-searches");

export interface Files {
  /** Loads the record for the caller. Throws `not_found` or `forbidden`. */
  load(principal: Principal, id: string, action: "read" | "write"): Promise<FileRecord>;
  /** The stored bytes of a record that was loaded. Throws `not_found` when there are none. */
  open(file: FileRecord): Promise<Readable>;
  /** Stores bytes as a new file of the caller. It counts as completed and is not processed; see `process`. */
  create(
    principal: Principal,
    file: { filename: string; contentType: string; bytes: Readable; meta?: Record<string, unknown> },
  ): Promise<FileRecord>;
  /** Orders a loaded file to be processed anew; `content` replaces the text from now on. */
  process(file: FileRecord, content?: string): Promise<void>;
  /** Waits until processing has ended; resolves to the record then. Throws `not_found` when the file is removed meanwhile. */
  settled(file: FileRecord, signal: AbortSignal): Promise<FileRecord>;
  /** The owners' user ids of those files that exist, by file id. */
  owners(ids: readonly string[]): Promise<Map<string, string>>;
  /** Removes a file that the caller owns (or that an admin may remove). Throws `not_found` or `forbidden`. */
  remove(principal: Principal, id: string): Promise<void>;
}

export const files = defineService<Files>("files");
