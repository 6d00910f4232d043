import type { ColumnType, Generated } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

/** A jsonb column; values are written with `toJson` of `#storage/values.ts` or as objects. */
type Json<T> = ColumnType<T, T, T>;
type Bag = Record<string, unknown>;
/** Made by the database from other columns. */
type Made<T> = ColumnType<T, never, never>;

/** One conversation (configuration document, Chat). Its messages are rows of `chat_message`. */
export interface ChatTable {
  id: string;
  user_id: string;
  title: string;
  /** What of the chat object is neither a message, a tag nor a file: models, params, timestamp, unknown keys. */
  chat: Json<Bag>;
  created_at: number;
  /** Moves when messages change, and only then. */
  updated_at: number;
  share_id: string | null;
  archived: Generated<boolean>;
  pinned: Generated<boolean | null>;
  /** `{tags: [tag ids], internal?, …}` */
  meta: Json<Bag>;
  folder_id: string | null;
  tasks: Json<unknown>;
  summary: string | null;
  last_read_at: number | null;
  /** The leaf that is shown. */
  current_message_id: string | null;
  variables: Json<Bag>;
  /** Chats of notes and sub-agents (`meta.internal`) stay out of every list. */
  is_internal: Made<boolean>;
}

/** One message of a chat (configuration document, Chat message). Ids are the callers', so the chat is part of the key. */
export interface ChatMessageTable {
  chat_id: string;
  id: string;
  user_id: string;
  role: string;
  parent_id: string | null;
  /** Order among the children of one parent; ties go by id. */
  position: number;
  /** A string or a list of content blocks; null when none was sent. */
  content: Json<unknown>;
  output: Json<unknown>;
  model_id: string | null;
  files: Json<unknown>;
  sources: Json<unknown>;
  embeds: Json<unknown>;
  meta: Json<unknown>;
  /** Null on messages that were sent without it. */
  done: boolean | null;
  status_history: Json<unknown>;
  error: Json<unknown>;
  usage: Json<unknown>;
  context_summary: string | null;
  /** The members of the message's JSON as the wire shows them; null while a run writes it (`reading/message-rows.ts`). */
  wire: Made<string | null>;
  /** Keys of the wire without a column (timestamp, models, modelName, modelIdx, unknown ones), and explicit nulls. */
  extra: Json<Bag>;
  /** The run that writes this message now; nobody else changes what it writes. */
  run_id: string | null;
  /** The run that wrote it last and has ended. */
  ended_by: string | null;
  /** Number of the last event that the stored state includes. */
  seq: Generated<number>;
  created_at: number;
  updated_at: number;
}

/** The append log of a reply that a run writes (`replies/append-log.ts`). */
export interface ChatMessageTailTable {
  chat_id: string;
  message_id: string;
  seq: number;
  grown: Json<unknown>;
}

/** What a chat looked like when it was shared (configuration document, Shared chat). */
export interface SharedChatTable {
  id: string;
  chat_id: string;
  user_id: string;
  title: string;
  chat: Json<Bag>;
  /** The same without ids of files, users and models, for visitors without an account. */
  open_chat: Json<Bag>;
  /** The owner's files that the snapshot shows. */
  file_ids: string[];
  created_at: number;
  updated_at: number;
}

/** The only list of a chat's files. */
export interface ChatFileTable {
  id: string;
  user_id: string;
  chat_id: string;
  file_id: string;
  /** The message that shows the file; null when the chat as a whole carries it. */
  message_id: string | null;
  /** Place in the chat's own list of files; null when only a message shows it. */
  position: number | null;
  /** The entry of the chat's own list as it was sent. */
  entry: Json<Bag | null>;
  created_at: number;
  updated_at: number;
}

export interface TagTable {
  /** The name in lower case with underscores. */
  id: string;
  user_id: string;
  name: string;
  meta: Json<Bag | null>;
}

export interface ChatTables {
  chat: ChatTable;
  chat_message: ChatMessageTable;
  chat_message_tail: ChatMessageTailTable;
  shared_chat: SharedChatTable;
  chat_file: ChatFileTable;
  tag: TagTable;
}

/** The plugin's database handle, or a transaction on it. */
export type ChatDatabase = PluginDatabase<ChatTables>;

/** Runs its callback in a transaction of the plugin's tables. */
export type Transact = <R>(run: (tx: ChatDatabase) => Promise<R>) => Promise<R>;
