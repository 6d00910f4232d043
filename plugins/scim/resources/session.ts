import type { ProvisioningWork } from "#plugins/accounts/service.ts";
import type { ScimDatabase } from "../tables.ts";

/** The place where calls read and write: the database, or a transaction that is rolled back after a trial. */
export interface Session {
  readonly db: ScimDatabase;
  /** Runs a change in a transaction; once it has committed, it is announced. */
  change<R>(run: (tx: ScimDatabase, work: ProvisioningWork) => Promise<R>): Promise<R>;
  /** SCIM_AUTH_PROVIDER. */
  readonly provider: string;
  /** The absolute address of the surface, without a slash at its end. */
  readonly base: string;
}
