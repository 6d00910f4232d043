import { createHash } from "node:crypto";
import type { Seal } from "#kernel/seal.ts";
import { seconds } from "#storage/clock.ts";
import type { McpDatabase } from "../tables.ts";
import type { ClientRegistration } from "./sign-in.ts";
import type { ClientStore, FlowStore, SessionPlace, StoredFlow } from "./stores.ts";

/** People look for passwords and second factors: at least fifteen minutes (promise 11). */
const flowSeconds = 20 * 60;

/** Sign-ins that wait for their callback, whichever replica it comes to. */
export function createFlowStore(db: McpDatabase, seal: Seal): FlowStore & { sweep(): Promise<void> } {
  const at = ({ userId, provider }: SessionPlace, state: string) => `flow ${userId} ${provider} ${state}`;
  return {
    async put(state, place, flow) {
      const key = hash(state);
      const row = { state: key, user_id: place.userId, provider: place.provider };
      const sealed = seal.seal(flow, at(place, key));
      await db
        .insertInto("oauth_flow")
        .values({ ...row, flow: sealed, expires_at: seconds() + flowSeconds })
        .execute();
    },
    async take(state, place) {
      const row = await db
        .deleteFrom("oauth_flow")
        .where("state", "=", hash(state))
        .where("user_id", "=", place.userId)
        .where("provider", "=", place.provider)
        .returningAll()
        .executeTakeFirst();
      return row === undefined || row.expires_at < seconds()
        ? undefined
        : (seal.open(row.flow, at(place, row.state)) as StoredFlow);
    },
    async sweep() {
      await db.deleteFrom("oauth_flow").where("expires_at", "<", seconds()).execute();
    },
  };
}

/** Registrations that were made for servers whose connection carries none. */
export function createClientStore(db: McpDatabase, seal: Seal): ClientStore {
  const at = (provider: string) => `registration ${provider}`;
  return {
    async read(provider) {
      const row = await db
        .selectFrom("oauth_client")
        .select("registration")
        .where("provider", "=", provider)
        .executeTakeFirst();
      try {
        return row && (seal.open(row.registration, at(provider)) as ClientRegistration);
      } catch {
        return undefined;
      }
    },
    async save(provider, registration) {
      const values = { registration: seal.seal(registration, at(provider)), updated_at: seconds() };
      await db
        .insertInto("oauth_client")
        .values({ provider, ...values })
        .onConflict((conflict) => conflict.column("provider").doUpdateSet(values))
        .execute();
    },
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
