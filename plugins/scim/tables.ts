import type { Generated } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

/** One call of an identity provider, kept for the administrators' page. */
export interface ScimCallTable {
  id: Generated<number>;
  created_at: number;
  method: string;
  /** Path below the base, with its query; shortened. */
  path: string;
  status: number;
  /** `scimType` of a refusal. */
  reason: string | null;
  /** What a refusal said. */
  detail: string | null;
  duration_ms: number;
  /** The caller's address and User-Agent header. */
  address: string;
  client: string | null;
}

export interface ScimTables {
  scim_call: ScimCallTable;
}

/** The plugin's database handle, or a transaction on it. */
export type ScimDatabase = PluginDatabase<ScimTables>;
