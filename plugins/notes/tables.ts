import type { ColumnType, Generated, Selectable } from "kysely";
import type { PluginContext, PluginDatabase } from "#kernel/plugin.ts";

type Json<T> = ColumnType<T, unknown, unknown>;
export type Bag = Readonly<Record<string, unknown>>;
/** A time in epoch nanoseconds (contract §0). */
type Nanoseconds = ColumnType<number | bigint, bigint, bigint>;

/** The resource_type of grants on notes. */
export const resourceType = "note";

/** A note (configuration document, Other records). `content` is the Markdown of its document. */
export interface NoteTable {
  id: string;
  user_id: string;
  title: string;
  content: string;
  /** `files` and keys of clients; the text stands in `content`. */
  data: Json<Bag>;
  meta: Json<Bag>;
  created_at: Nanoseconds;
  updated_at: Nanoseconds;
}

/** A note that one person has pinned (configuration document: one row per user pinning one note). */
export interface PinnedNoteTable {
  id: string;
  user_id: string;
  note_id: string;
  created_at: Nanoseconds;
}

/** The Yjs document of a note as it was last compacted. */
export interface NoteDocumentTable {
  note_id: string;
  state: Uint8Array;
}

/** The append log: Yjs updates that are not part of the compacted document yet. */
export interface NoteUpdateTable {
  id: Generated<string>;
  note_id: string;
  user_id: string;
  bytes: Uint8Array;
  created_at: Nanoseconds;
}

/** The text of a note as it was. */
export interface NoteVersionTable {
  id: string;
  note_id: string;
  user_id: string | null;
  title: string;
  content: string;
  created_at: Nanoseconds;
  updated_at: Nanoseconds;
}

/** A file that stands in a note, and who put it there. */
export interface NoteFileTable {
  note_id: string;
  file_id: string;
  user_id: string;
}

/** A chat that somebody began about a note. */
export interface NoteChatTable {
  note_id: string;
  chat_id: string;
  user_id: string;
  created_at: Nanoseconds;
}

export interface NoteTables {
  note: NoteTable;
  pinned_note: PinnedNoteTable;
  note_document: NoteDocumentTable;
  note_update: NoteUpdateTable;
  note_version: NoteVersionTable;
  note_file: NoteFileTable;
  note_chat: NoteChatTable;
}

export type NoteRow = Selectable<NoteTable>;
export type VersionRow = Selectable<NoteVersionTable>;
export type NoteDatabase = PluginDatabase<NoteTables>;
export type NoteTransaction = PluginContext<never, never, NoteTables>["transaction"];
