import type { Provisioning, ProvisioningWork } from "#plugins/accounts/service.ts";
import type { Session } from "./resources/session.ts";
import type { ScimDatabase } from "./tables.ts";

export interface SessionParts {
  readonly db: ScimDatabase;
  transaction<R>(run: (tx: ScimDatabase) => Promise<R>): Promise<R>;
  readonly provisioning: Provisioning;
  readonly config: { readonly provider: string };
}

/** The author of changes in the audit record. */
const actor = "SCIM";

/** Opens sessions of calls, each with its own transactions. */
export function createOpenSession({ db, transaction, provisioning, config }: SessionParts) {
  return {
    /** Sessions whose changes stay in the transaction that they are given, and are announced to nobody. */
    async openTrial(): Promise<(tx: ScimDatabase, base: string) => Session> {
      const passwordHash = await provisioning.unusablePassword();
      return (tx, base) => ({
        db: tx,
        base,
        provider: config.provider,
        change: (run) => run(tx, provisioning.within(tx, { passwordHash, actor })),
      });
    },
    async open(base: string): Promise<Session> {
      const passwordHash = await provisioning.unusablePassword();
      return {
        db,
        base,
        provider: config.provider,
        async change(run) {
          const { answer, work } = await transaction(async (tx) => {
            const work: ProvisioningWork = provisioning.within(tx, { passwordHash, actor });
            return { answer: await run(tx, work), work };
          });
          await work.announce();
          return answer;
        },
      };
    },
  };
}
