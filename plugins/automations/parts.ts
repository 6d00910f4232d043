import type { Principal } from "#kernel/access/principal.ts";
import type { Loader } from "#kernel/access/resource.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { ChatContext, ChatFolders, Chats } from "#plugins/chats/service.ts";
import type { ChatRuns, TerminalAccess } from "#plugins/completions/service.ts";
import type { Models } from "#plugins/models/service.ts";
import type { RunControl } from "#plugins/runs/service.ts";
import { type AutomationDatabase, type AutomationRow, resourceType, type Transact } from "./tables.ts";

/** Live settings of automations. */
export interface AutomationSettings {
  readonly enabled: boolean;
  readonly maxCount: number | null;
  readonly minInterval: number | null;
  readonly tokenLifetime: { readonly ms: number | null };
  readonly pollSeconds: number;
}

/** The parts that automations need. */
export interface AutomationParts {
  readonly db: AutomationDatabase;
  readonly transaction: Transact;
  readonly log: Logger;
  readonly accounts: Accounts;
  readonly chats: Chats;
  readonly context: Pick<ChatContext, "isRunning">;
  readonly events: Events;
  readonly folders: Slot<ChatFolders>;
  readonly models: Models;
  readonly control: RunControl;
  readonly runs: Slot<ChatRuns>;
  readonly terminals: Slot<TerminalAccess>;
  readonly loader: Loader<AutomationRow>;
  settings(): AutomationSettings;
}

/** System events of automations (appendix A10). */
export type AutomationEvent =
  | "created"
  | "updated"
  | "deleted"
  | "enabled"
  | "disabled"
  | "run_started"
  | "run_completed"
  | "run_failed";

/** Tells the process what became of an automation; its prompt goes nowhere. */
export function announce(
  { events }: Pick<AutomationParts, "events">,
  event: AutomationEvent,
  about: {
    readonly by: Principal | undefined;
    readonly row: Pick<AutomationRow, "id" | "name" | "user_id">;
    readonly data?: Readonly<Record<string, unknown>>;
  },
): void {
  const { by, row, data } = about;
  events.announce(`automation.${event}`, {
    actor: by ? { id: by.userId, name: by.name, email: by.email, role: by.role } : { id: row.user_id },
    subject: { type: resourceType, id: row.id },
    data: { id: row.id, name: row.name, user_id: row.user_id, ...data },
  });
}
