import type { Readable } from "node:stream";
import type { Principal } from "#kernel/access/principal.ts";
import { defineService, defineSlot } from "#kernel/service.ts";

import type { FileRecord, PassageSearch } from "./shapes.ts";

export type { FileRecord, Passage, PassageSearch } from "./shapes.ts";
export { readingLimits } from "./config.ts";
export {
  type ChatFiles as ReadableFiles,
  type ChatFileSettings as ReadingLimits,
  toNumber,
} from "./tools/chat-files.ts";
export { grepTool } from "./tools/grep-tool.ts";
export { viewTool } from "./tools/view-tool.ts";

/**
 * Where in its source a piece of a file's text stands; a processor of documents gives them in the order of `start` as
 * `places` in `data`, and each holds until the next begins.
 */
export interface TextPlace {
  /** Position in `data.content`, in UTF-16 units. */
  readonly start: number;
  /** From 1: a page, or a slide. */
  readonly page?: number;
  readonly sheet?: string;
  /** A member of an archive, or an attachment. */
  readonly part?: string;
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
   * Names everything beside the bytes that decides the result, such as settings. What was found in the same bytes under
   * the same fingerprint is taken over then instead of being looked for again; left out, nothing is.
   */
  fingerprint?(file: FileRecord): string;
  /**
   * Resolves to what is merged into `data` (`content` and further keys). A rejection is tried again; an AppError
   * that blames the file (`invalid`, `unprocessable`, `too_large`, `not_found`) fails it at once. The detail of
   * an AppError is shown to the user, other messages are not.
   */
  process(processing: FileProcessing): Promise<Record<string, unknown>>;
}

/** Filled by extraction and others; with none, text files yield their text and others complete without content. */
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
  /** Runs before an upload's row is stored; an AppError refuses the upload. `metadata` is what the form sent. */
  admit?(principal: Principal, metadata: Readonly<Record<string, unknown>>): Promise<void>;
  /** Runs once an upload's row is stored and before it is processed; a rejection is logged. */
  stored?(principal: Principal, file: FileRecord): Promise<void>;
  /**
   * Runs after the content was found and before the file counts as completed; may run twice for one file. A
   * rejection is treated like one of the processor's.
   */
  processed?(file: FileRecord): Promise<void>;
  /** Runs once a file counts as failed, with the reason that people read; a rejection is logged. */
  failed?(fileId: string, reason: string): Promise<void>;
  /** Runs once a file has another name; a rejection is logged. */
  renamed?(file: FileRecord): Promise<void>;
  /** Runs once the rows are gone; a rejection is logged. */
  removed?(files: readonly FileRecord[]): Promise<void>;
}

export const fileObservers = defineSlot<FileObserver>("files.observers");

/** How far the search by meaning is: passages that a file was cut into, and those of them that have a vector. */
export interface PassageCount {
  readonly total: number;
  readonly embedded: number;
}

/** Knows the passages of files; filled by the plugin that indexes them. */
export interface FileIndex {
  readonly id: string;
  /** By file id; files without passages are left out. */
  count(fileIds: readonly string[]): Promise<ReadonlyMap<string, PassageCount>>;
}

export const fileIndexes = defineSlot<FileIndex>("files.indexes");

/** Knows which files a chat has; filled by the plugin that stores chats. */
export interface ChatFileLists {
  /** Ids of the files of a chat, in its order; none for a chat that is not the owner's. */
  list(owner: Principal, chatId: string): Promise<readonly string[]>;
}

export const chatFileLists = defineSlot<ChatFileLists>("files.of-chats");

/**
 * Filled by a plugin that knows what texts mean; the last counts, so that an added plugin can replace the platform's own.
 * Without one, words are searched for.
 */
export const passageSearches = defineSlot<PassageSearch>("files.passage-searches");

export interface Files {
  /** Loads the record for the caller. Throws `not_found` or `forbidden`. */
  load(principal: Principal, id: string, action: "read" | "write"): Promise<FileRecord>;
  /** Lets a file pass that the caller may read or write, without reading its text. Throws `not_found` or `forbidden`. */
  authorize(principal: Principal, id: string, action: "read" | "write"): Promise<void>;
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
  /**
   * The records of those files that exist, without texts and what processors added, in the order of `ids`;
   * `data.has_text` tells whether there is a text. Nobody is asked for access: for plugins whose own rows lead to the
   * files.
   */
  list(ids: readonly string[]): Promise<FileRecord[]>;
  /** The text of a file, for plugins that authorised the caller already; undefined where there is none. */
  text(id: string): Promise<string | undefined>;
  /** The record with its text; undefined when it is gone. Nobody is asked for access. */
  find(id: string): Promise<FileRecord | undefined>;
  /** Ids of files that have a text, in their order, from the one behind `after` on; at most `limit`. */
  idsWithText(after: string | undefined, limit: number): Promise<string[]>;
  /** The owners' user ids of those files that exist, by file id. */
  owners(ids: readonly string[]): Promise<Map<string, string>>;
  /** Removes a file that the caller owns (or that an admin may remove). Throws `not_found` or `forbidden`. */
  remove(principal: Principal, id: string): Promise<void>;
  /** Removes every file of the installation; for administrators. */
  removeAll(principal: Principal): Promise<void>;
}

export const files = defineService<Files>("files");

export { isText } from "./media.ts";
export { maxTextLength, readText } from "./text.ts";
