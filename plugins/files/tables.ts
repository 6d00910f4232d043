import type { Generated, JSONColumnType } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

export type FileStatus = "pending" | "completed" | "failed";

/** One stored file (configuration document, File). What the wire shows as `data` is spread over columns, so that lists need not read texts. */
export interface FileTable {
  id: string;
  user_id: string;
  /** SHA-256 of the stored bytes in hex. */
  hash: string | null;
  /** For display only. */
  filename: string;
  /** Key of the bytes in the blob store, made by the server. */
  path: string | null;
  status: FileStatus;
  /** Why processing failed. */
  error: string | null;
  /** The text, extracted or set by hand. */
  content: string | null;
  /** True once somebody set the text by hand: processing then uses it instead of extracting. */
  edited: Generated<boolean>;
  /** How the text was extracted, where the same bytes would give the same again; null for a text set by hand. */
  fingerprint: string | null;
  /** Further results of processing. */
  data: JSONColumnType<Record<string, unknown>, string, string>;
  meta: JSONColumnType<Record<string, unknown>, string, string>;
  /** Grows with each order to process; what an older order found out is dropped. */
  revision: Generated<number>;
  /** Tries of this revision. */
  attempts: Generated<number>;
  /** When the order was given or repeated, and when its first try began. */
  queued_at: number;
  started_at: number | null;
  /** Until when the worker that holds the file counts as alive; null while none does. */
  lease_until: number | null;
  created_at: number;
  updated_at: number;
}

export interface FilesTables {
  file: FileTable;
}

/** The plugin's database handle, or a transaction on it. */
export type FilesDatabase = PluginDatabase<FilesTables>;
