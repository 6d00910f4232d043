import type { PluginDatabase } from "#kernel/plugin.ts";

/** A folder below GATEWAY_ROOT with its owner. */
export interface WorkspaceTable {
  id: string;
  user_id: string;
  name: string;
  /** Path below GATEWAY_ROOT, with `/`. */
  folder: string;
  /** What follows `gw/` in the model's id; unique for its owner. */
  slug: string;
  model: string | null;
  instructions: string;
  created_at: number;
  updated_at: number;
}

export interface KeyTable {
  id: string;
  user_id: string;
  name: string;
  key_hash: string;
  /** The last four characters. */
  hint: string;
  created_at: number;
  last_used_at: number | null;
}

/** A chat whose replies the agent of a workspace writes. */
export interface GatewayChatTable {
  chat_id: string;
  workspace_id: string;
  user_id: string;
  /** The id under which a client continues it. */
  external_id: string | null;
  created_at: number;
}

export type RunStatus = "running" | "done" | "failed" | "stopped";

/** One reply of an agent. */
export interface GatewayRunTable {
  id: string;
  workspace_id: string;
  chat_id: string;
  message_id: string;
  model_id: string;
  status: RunStatus;
  error: string | null;
  started_at: number;
  ended_at: number | null;
  /** What it changed: JSON of `FileChange[]`; null while that is not known. */
  changes: string | null;
  /** Why there is no list of changes. */
  changes_problem: string | null;
  undone_at: number | null;
}

export interface GatewayTables {
  gateway_workspace: WorkspaceTable;
  gateway_key: KeyTable;
  gateway_chat: GatewayChatTable;
  gateway_run: GatewayRunTable;
}

export type GatewayDatabase = PluginDatabase<GatewayTables>;
