import type { PluginDatabase } from "#kernel/plugin.ts";

/** A session on a terminal server, made through the platform. */
export interface TerminalSessionTable {
  terminal_id: string;
  session_id: string;
  user_id: string;
  /** The chat it belongs to; empty outside of one. */
  chat_id: string;
  created_at: number;
}

export interface TerminalTables {
  terminal_session: TerminalSessionTable;
}

/** The plugin's database handle, or a transaction on it. */
export type TerminalDatabase = PluginDatabase<TerminalTables>;
