import { createHash } from "node:crypto";
import { seconds } from "#storage/clock.ts";
import type { OAuthDatabase } from "../tables.ts";

/** What counts once alone, on whichever replica. */
export interface UsedStates {
  /** False when it was used already. */
  use(what: string, forSeconds: number): Promise<boolean>;
  sweep(): Promise<void>;
}

export function createUsedStates(db: OAuthDatabase): UsedStates {
  return {
    async use(what, forSeconds) {
      const state = createHash("sha256").update(what).digest("hex");
      const row = await db
        .insertInto("oauth_used_state")
        .values({ state, expires_at: seconds() + forSeconds })
        .onConflict((conflict) => conflict.doNothing())
        .returning("state")
        .executeTakeFirst();
      return row !== undefined;
    },
    async sweep() {
      await db.deleteFrom("oauth_used_state").where("expires_at", "<", seconds()).execute();
    },
  };
}
