import type { PluginDatabase } from "#kernel/plugin.ts";

/** A person's decision for all calls of one tool. */
export interface ToolApprovalTable {
  id: string;
  user_id: string;
  tool_id: string;
  /** Name of the function. */
  name: string;
  /** SHA-256 of what the person saw of the tool: when the tool changes, the person is asked again (case S125). */
  fingerprint: string;
  decision: "allow" | "deny";
  created_at: number;
}

export interface ApprovalTables {
  tool_approval: ToolApprovalTable;
}

/** The plugin's database handle, or a transaction on it. */
export type ApprovalDatabase = PluginDatabase<ApprovalTables>;
