import type { PluginDatabase } from "#kernel/plugin.ts";
import { defineService } from "#kernel/service.ts";
import type { AuditEntry, AuditObject, AuditRecord } from "./entry.ts";

export { recordByCommand } from "./command-record.ts";
export type { AuditEntry, AuditObject, AuditRecord, AuditVerb } from "./entry.ts";

/** The append-only record of what administrators do. */
export interface Audit {
  /**
   * Appends a record; who did it and from where is known from the request that runs. Pass the transaction of the change,
   * so that neither is stored without the other. Secrets under secret-looking keys are masked.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- the transaction of any plugin will do
  record(entry: AuditEntry, transaction?: PluginDatabase<any>): Promise<void>;
  /** Records about one object, the latest first. */
  history(object: Pick<AuditObject, "type" | "id">, limit: number): Promise<AuditRecord[]>;
}

/** May be missing: name it as `optional(audit)` and call `use.audit?.record(…)`. */
export const audit = defineService<Audit>("audit");
