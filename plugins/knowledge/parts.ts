import type { Access, Loader } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { AuditEntry } from "#plugins/audit/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { Retrieval } from "#plugins/retrieval/service.ts";
import type { LinkProgress } from "./files/progress.ts";
import {
  type CollectionRow,
  type KnowledgeDatabase,
  type KnowledgeTransaction,
  resourceType,
} from "./tables.ts";

/** What the logic of collections is made of. */
export interface KnowledgeParts {
  readonly db: KnowledgeDatabase;
  readonly transaction: KnowledgeTransaction;
  readonly log: Logger;
  readonly access: Access;
  readonly accounts: Accounts;
  readonly events: Pick<Events, "announce">;
  readonly files: Files;
  readonly grants: Grants;
  readonly hub: Pick<Hub, "emit">;
  /** Missing where the plugin that searches is left out: collections then hold files and answer no questions. */
  readonly index: Retrieval | undefined;
  readonly progress: LinkProgress;
  /** The one way from an id to a collection. */
  readonly collections: Loader<CollectionRow>;
  record(entry: AuditEntry, transaction?: KnowledgeDatabase): Promise<void>;
}

/** System events of collections (appendix A10). */
export type KnowledgeEvent =
  | `knowledge.${"created" | "updated" | "deleted" | "reset" | "reindexed" | "access_updated"}`
  | `knowledge.file.${"added" | "updated" | "removed" | "moved"}`
  | `knowledge.directory.${"created" | "updated" | "deleted"}`;

/** Tells the process what became of a collection. `by` is null for the server itself. */
export function announce(
  { events }: Pick<KnowledgeParts, "events">,
  event: KnowledgeEvent,
  { by, id, data }: { by: Principal | null; id: string; data?: Record<string, unknown> },
): void {
  events.announce(event, {
    actor: by && { id: by.userId, name: by.name, email: by.email, role: by.role },
    subject: { type: resourceType, id },
    data: data ?? null,
  });
}
