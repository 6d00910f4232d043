import type { Access, Loader } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Grants } from "#storage/grants.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { Catalogue } from "./catalogue/catalogue.ts";
import type { Permit } from "./catalogue/permit.ts";
import type { ModelRecords } from "./records/records.ts";
import type { ReferenceCheck } from "./records/references.ts";
import type { ModelRow } from "./records/store.ts";
import type { ModelDatabase } from "./tables.ts";

/** The kind of row that grants name. */
export const resourceType = "model";

/** Dependencies of the logic of saved models. */
export interface ModelParts {
  readonly db: ModelDatabase;
  transaction<R>(run: (tx: ModelDatabase) => Promise<R>): Promise<R>;
  readonly access: Access;
  readonly grants: Grants;
  readonly accounts: Accounts;
  readonly files: Files;
  readonly events: Events;
  /** Keeps what is done to models; does nothing where the audit is left out. */
  readonly record: Audit["record"];
  readonly log: Logger;
  readonly records: ModelRecords;
  readonly catalogue: Catalogue;
  readonly permit: Permit;
  readonly references: ReferenceCheck;
  /** The one way from an id to a row. */
  readonly loader: Loader<ModelRow>;
}

/** System events of models (appendix A10). */
export type ModelEvent =
  | "model.created"
  | "model.updated"
  | "model.deleted"
  | "model.enabled"
  | "model.disabled"
  | "model.imported"
  | "model.synced"
  | "model.access_updated";

/** Announces a system event about one model, or about many. */
export function announce(
  events: Events,
  event: ModelEvent,
  { by, id, data }: { by: Principal; id?: string; data?: Record<string, unknown> },
): void {
  events.announce(event, {
    actor: { id: by.userId, name: by.name, email: by.email, role: by.role },
    subject: id === undefined ? null : { type: resourceType, id },
    data: data ?? null,
  });
}
