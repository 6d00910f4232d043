import { sql, type Selectable } from "kysely";
import { currentRequest } from "#kernel/http/current-request.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { seconds } from "#storage/clock.ts";
import type { AccountSessionTable, AccountsDatabase } from "../tables.ts";
import type { AuthMethod, SignedSession } from "./session.ts";

export type SessionRow = Selectable<AccountSessionTable>;

const longestClient = 500;
const shownSessions = 200;
/** Uses within this many seconds of the last one are not written. */
const usedEvery = 55;

/** Keeps where a session began: address and client are those of the request that runs. */
export async function insertSession(
  db: AccountsDatabase,
  { jti, expiresAt }: SignedSession,
  {
    userId,
    stamp,
    method,
    isVerified,
  }: { userId: string; stamp: string; method: AuthMethod; isVerified: boolean },
): Promise<void> {
  const origin = currentRequest();
  const now = seconds();
  await db
    .insertInto("account_session")
    .values({
      id: jti,
      user_id: userId,
      stamp,
      method,
      address: origin?.address ?? null,
      client: origin?.client?.slice(0, longestClient).toWellFormed() ?? null,
      expires_at: expiresAt,
      last_used_at: now,
      created_at: now,
      proved_at: now,
      factor_at: isVerified ? now : null,
    })
    .execute();
  await touchLastActive(db, [userId]);
}

/** The live sessions of an account, the last used first. */
export async function listSessions(db: AccountsDatabase, userId: string): Promise<SessionRow[]> {
  return await liveSessions(db, userId)
    .orderBy("account_session.last_used_at", "desc")
    .orderBy("account_session.id")
    .limit(shownSessions)
    .execute();
}

/** One live session of an account. */
export async function findSession(
  db: AccountsDatabase,
  userId: string,
  id: string,
): Promise<SessionRow | undefined> {
  return await liveSessions(db, userId).where("account_session.id", "=", id).executeTakeFirst();
}

function liveSessions(db: AccountsDatabase, userId: string) {
  return db
    .selectFrom("account_session")
    .innerJoin("user", "user.id", "account_session.user_id")
    .selectAll("account_session")
    .where("account_session.user_id", "=", userId)
    .whereRef("account_session.stamp", "=", "user.session_stamp")
    .where(sql<boolean>`coalesce(account_session.expires_at > ${seconds()}, true)`)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("revoked_token").select("jti").whereRef("jti", "=", "account_session.id"))),
    );
}

/** Notes that these sessions are in use. */
export async function touchSessions(db: AccountsDatabase, ids: readonly string[]): Promise<void> {
  const now = seconds();
  await db
    .updateTable("account_session")
    .set({ last_used_at: now })
    .where(sql<boolean>`id = any(${[...ids]}::text[])`)
    .where("last_used_at", "<=", now - usedEvery)
    .execute();
}

/** Notes that accounts were just seen; at most one write a minute and account. */
export async function touchLastActive(db: AccountsDatabase, ids: readonly string[]): Promise<void> {
  const now = seconds();
  // Replicas write at the same time: a row another one is writing needs no second writer.
  await sql`
    update "user" set last_active_at = ${now} where id in (
      select id from "user" where id = any(${[...ids]}::text[]) and last_active_at < ${now - 55} for update skip locked
    )
  `.execute(db);
}

/** When the person behind the caller's session last proved who they are, and with a second factor; undefined for keys. */
export async function findProofs(
  db: AccountsDatabase,
  { session, userId }: Pick<Principal, "session" | "userId">,
): Promise<
  { readonly provedAt: number; readonly factorAt: number | null; readonly method: string } | undefined
> {
  const row =
    session === null
      ? undefined
      : await db
          .selectFrom("account_session")
          .select(["created_at", "proved_at", "factor_at", "method"])
          .where("id", "=", session.id)
          .where("user_id", "=", userId)
          .executeTakeFirst();
  return row && { provedAt: row.proved_at ?? row.created_at, factorAt: row.factor_at, method: row.method };
}

/** Notes that the person behind a session has proved once more who they are. */
export async function noteProof(db: AccountsDatabase, id: string, withFactor: boolean): Promise<void> {
  const now = seconds();
  await db
    .updateTable("account_session")
    .set({ proved_at: now, ...(withFactor && { factor_at: now }) })
    .where("id", "=", id)
    .execute();
}

/** Deletes what has ended: expired, signed out, or ended with all sessions of the account. */
export async function sweepSessions(db: AccountsDatabase): Promise<void> {
  await sql`
    delete from account_session using "user"
    where "user".id = account_session.user_id
      and ("user".session_stamp <> account_session.stamp
        or account_session.expires_at <= extract(epoch from now())::bigint
        or exists (select from revoked_token where jti = account_session.id))`.execute(db);
}
