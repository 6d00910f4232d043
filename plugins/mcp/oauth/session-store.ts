import { randomUUID } from "node:crypto";
import type { Seal } from "#kernel/seal.ts";
import { seconds } from "#storage/clock.ts";
import type { McpDatabase, OAuthSessionRow } from "../tables.ts";
import type { TokenSet } from "./sign-in.ts";
import type { SessionPlace, SessionStore, StoredSession } from "./stores.ts";

/** Seconds for which a process may renew: longer than any exchange, so that a dead one blocks nobody for long. */
const leaseSeconds = 40;

/** What lists show of a session: no token. */
export interface ListedSession {
  readonly id: string;
  readonly provider: string;
  readonly user_id: string;
  readonly expires_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** The server wants more than was given. */
  readonly needs_sign_in: boolean;
}

export interface DatabaseSessions extends SessionStore {
  list(userId: string): Promise<ListedSession[]>;
}

/** People's tokens in `oauth_session`, encrypted; the row is the lock of renewals on all replicas. */
export function createSessionStore(db: McpDatabase, seal: Seal): DatabaseSessions {
  const at = ({ userId, provider }: SessionPlace) => `${userId} ${provider}`;
  const find = (place: SessionPlace) =>
    db
      .selectFrom("oauth_session")
      .selectAll()
      .where("user_id", "=", place.userId)
      .where("provider", "=", place.provider)
      .executeTakeFirst();
  const update = (place: SessionPlace) =>
    db
      .updateTable("oauth_session")
      .where("user_id", "=", place.userId)
      .where("provider", "=", place.provider);
  const open = (row: OAuthSessionRow | undefined, place: SessionPlace): TokenSet | undefined => {
    try {
      return row && (seal.open(row.token, at(place)) as TokenSet);
    } catch {
      // The key is another one by now: the person signs in again.
      return undefined;
    }
  };
  return {
    async read(place): Promise<StoredSession | undefined> {
      const row = await find(place);
      const tokens = open(row, place);
      return row && tokens && { tokens, wantedScope: row.wanted_scope ?? undefined, version: row.token };
    },
    async save(place, tokens) {
      const now = seconds();
      const values = {
        token: seal.seal(tokens, at(place)),
        expires_at: tokens.expiresAt === undefined ? null : Math.floor(tokens.expiresAt / 1000),
        wanted_scope: null,
        renewed_until: null,
        updated_at: now,
      };
      await db
        .insertInto("oauth_session")
        .values({
          id: randomUUID(),
          user_id: place.userId,
          provider: place.provider,
          created_at: now,
          ...values,
        })
        .onConflict((conflict) => conflict.columns(["user_id", "provider"]).doUpdateSet(values))
        .execute();
    },
    async wantScope(place, scope) {
      await update(place).set({ wanted_scope: scope }).execute();
    },
    async beginRenewal(place, version) {
      const now = seconds();
      const taken = await update(place)
        .set({ renewed_until: now + leaseSeconds })
        .where("token", "=", version)
        .where((eb) => eb.or([eb("renewed_until", "is", null), eb("renewed_until", "<", now)]))
        .executeTakeFirst();
      return taken.numUpdatedRows > 0n;
    },
    async endRenewal(place) {
      await update(place).set({ renewed_until: null }).execute();
    },
    async remove(place, version) {
      const row = await db
        .deleteFrom("oauth_session")
        .where("user_id", "=", place.userId)
        .where("provider", "=", place.provider)
        .$if(version !== undefined, (query) => query.where("token", "=", version ?? ""))
        .returningAll()
        .executeTakeFirst();
      return row && { tokens: open(row, place) };
    },
    list: (userId) => listSessions(db, userId),
  };
}

async function listSessions(db: McpDatabase, userId: string): Promise<ListedSession[]> {
  const rows = await db
    .selectFrom("oauth_session")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("provider")
    .execute();
  return rows.map(({ token: _token, renewed_until: _lease, wanted_scope: wanted, ...row }) => ({
    ...row,
    needs_sign_in: wanted !== null,
  }));
}
