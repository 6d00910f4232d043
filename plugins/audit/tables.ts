import type { Generated } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

export interface AuditRecordTable {
  id: Generated<number>;
  created_at: number;
  actor_id: string | null;
  actor_name: string | null;
  actor_role: string | null;
  action: string;
  object_type: string;
  object_id: string;
  object_name: string | null;
  /** JSON of any kind; a field that is not there is SQL null. */
  before: unknown;
  after: unknown;
  complete: boolean;
  address: string | null;
  client: string | null;
  request_id: string | null;
}

export interface AuditTables {
  audit_record: AuditRecordTable;
}

export type AuditDatabase = PluginDatabase<AuditTables>;
