import type { Principal } from "#kernel/access/principal.ts";
import type { Access, Loader } from "#kernel/access/resource.ts";
import type { Events } from "#kernel/events.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { AuditEntry } from "#plugins/audit/service.ts";
import { resourceType, type SkillDatabase, type SkillRow, type SkillTransaction } from "./tables.ts";

/** The parts that the logic of skills needs. */
export interface SkillParts {
  readonly db: SkillDatabase;
  readonly transaction: SkillTransaction;
  readonly access: Access;
  readonly accounts: Accounts;
  readonly events: Pick<Events, "announce">;
  readonly grants: Grants;
  /** The one way from an id to a skill. */
  readonly skills: Loader<SkillRow>;
  record(entry: AuditEntry, transaction?: SkillDatabase): Promise<void>;
}

/** System events of skills (appendix A10); a change of access is told as an update. */
export type SkillEvent = "created" | "updated" | "deleted" | "enabled" | "disabled";

/** Tells the process what became of a skill; its text goes nowhere. */
export function announce(
  { events }: Pick<SkillParts, "events">,
  event: SkillEvent,
  { by, row }: { by: Principal; row: Pick<SkillRow, "id" | "name"> },
): void {
  events.announce(`skill.${event}`, {
    actor: { id: by.userId, name: by.name, email: by.email, role: by.role },
    subject: { type: resourceType, id: row.id },
    data: { id: row.id, name: row.name },
  });
}
