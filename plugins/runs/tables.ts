import type { PluginDatabase } from "#kernel/plugin.ts";

/** One chat-bound run that has not ended. */
export interface RunTable {
  /** What clients know as its task id. */
  id: string;
  /** A stored chat, or `temporary:…`. */
  chat_id: string;
  message_id: string;
  user_id: string;
  /** The process that works on it. */
  owner_id: string;
  created_at: number;
  /** Why its process shall end it; null while nobody asked for that. */
  stop_reason: string | null;
}

/** A process that works on runs, and when it last said so. */
export interface RunOwnerTable {
  id: string;
  /** Epoch milliseconds by the database's clock: processes never compare their own. */
  seen_at: number;
}

export interface RunTables {
  chat_run: RunTable;
  chat_run_owner: RunOwnerTable;
}

export type RunDatabase = PluginDatabase<RunTables>;
