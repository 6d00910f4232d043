import { sql } from "kysely";
import type { AccountsDatabase } from "../tables.ts";

// The column wants a number; sessions that never expire get the end of the year 9999.
const never = 253_402_300_799;

/** Ends one session before its time; `expiresAt` in epoch seconds, null for one that never expires. */
export async function revokeSession(
  db: AccountsDatabase,
  jti: string,
  expiresAt: number | null,
): Promise<void> {
  await db
    .insertInto("revoked_token")
    .values({ jti, expires_at: expiresAt ?? never })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Whether this session was signed out. */
export async function isRevoked(db: AccountsDatabase, jti: string): Promise<boolean> {
  const row = await db.selectFrom("revoked_token").select("jti").where("jti", "=", jti).executeTakeFirst();
  return row !== undefined;
}

/** Deletes what has expired anyway; an hour late, for clocks that differ. */
export async function sweepRevokedSessions(db: AccountsDatabase): Promise<void> {
  await sql`delete from revoked_token where expires_at < extract(epoch from now())::bigint - 3600`.execute(
    db,
  );
}
