import type { Principal } from "#kernel/access/principal.ts";
import type { Access, Loader } from "#kernel/access/resource.ts";
import type { Events } from "#kernel/events.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { AuditEntry } from "#plugins/audit/service.ts";
import { type PromptDatabase, type PromptRow, type PromptTransaction, resourceType } from "./tables.ts";

/** The parts that the logic of prompts needs. */
export interface PromptParts {
  readonly db: PromptDatabase;
  readonly transaction: PromptTransaction;
  readonly access: Access;
  readonly accounts: Accounts;
  readonly events: Pick<Events, "announce">;
  readonly grants: Grants;
  /** The one way from an id to a prompt. */
  readonly prompts: Loader<PromptRow>;
  record(entry: AuditEntry, transaction?: PromptDatabase): Promise<void>;
}

/** System events of prompts (appendix A10). */
export type PromptEvent =
  | "created"
  | "updated"
  | "deleted"
  | "enabled"
  | "disabled"
  | "access_updated"
  | "version_updated";

/** Tells the process what became of a prompt; its text goes nowhere. */
export function announce(
  { events }: Pick<PromptParts, "events">,
  event: PromptEvent,
  { by, row }: { by: Principal; row: Pick<PromptRow, "id" | "name" | "command"> },
): void {
  events.announce(`prompt.${event}`, {
    actor: { id: by.userId, name: by.name, email: by.email, role: by.role },
    subject: { type: resourceType, id: row.id },
    data: { id: row.id, name: row.name, command: row.command },
  });
}
