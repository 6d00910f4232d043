import type { PluginDatabase } from "#kernel/plugin.ts";

/** A document that its owner looks at in a frame of its own, for a few minutes. */
export interface PreviewTable {
  /** Unguessable: it is all that the frame shows to read the document. */
  id: string;
  user_id: string;
  kind: "html" | "svg";
  content: Buffer;
  expires_at: number;
}

export interface PreviewTables {
  preview: PreviewTable;
}

/** The plugin's database handle, or a transaction on it. */
export type PreviewDatabase = PluginDatabase<PreviewTables>;
