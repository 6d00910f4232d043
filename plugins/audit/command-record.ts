import { sql } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";
import type { AuditEntry } from "./entry.ts";
import { appendRecord } from "./store.ts";

/**
 * Appends a record of what an operator did on the command line, where no service runs; does nothing on an installation
 * without the record.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- the database of any plugin will do
export async function recordByCommand(db: PluginDatabase<any>, entry: AuditEntry): Promise<void> {
  const { rows } = await sql<{
    exists: boolean;
  }>`select to_regclass('audit_record') is not null as exists`.execute(db);
  if (rows[0]?.exists === true) {
    await appendRecord(db, { ...entry, by: null, actorName: "command line" });
  }
}
