import type { PluginDatabase } from "#kernel/plugin.ts";

/** A person's decision for all calls of one tool. */
export interface ToolApprovalTable {
  id: string;
  user_id: string;
  tool_id: string;
  /** Name of the function. */
  name: string;
  /** Shown to people instead of the name. */
  title: string | null;
  /** The tool server or terminal that it runs on. */
  server: string | null;
  /** As the tool described itself when the person decided. */
  description: string | null;
  /** SHA-256 of the tool's revision, or of what the person saw of it: when it changes, the person is asked again (case S125). */
  fingerprint: string;
  decision: "allow" | "deny";
  created_at: number;
}

/** A person's choice for runs where nobody can be asked. */
export interface ToolApprovalOwnerTable {
  user_id: string;
  unattended: "refuse" | "allow";
}

export interface ApprovalTables {
  tool_approval: ToolApprovalTable;
  tool_approval_owner: ToolApprovalOwnerTable;
}

/** The plugin's database handle, or a transaction on it. */
export type ApprovalDatabase = PluginDatabase<ApprovalTables>;
