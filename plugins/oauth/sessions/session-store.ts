import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Seal } from "#kernel/seal.ts";
import { seconds } from "#storage/clock.ts";
import type { Tokens } from "../sign-in/flow.ts";
import type { OAuthDatabase, ProviderSessionRow } from "../tables.ts";

/** Seconds for which a process may renew: longer than any exchange, so that a dead one blocks nobody for long. */
const leaseSeconds = 40;
/** Sign-ins of a provider that was not used for so long are forgotten, in days. */
const keptDays = 180;

/** A sign-in through a provider with its tokens. */
export interface ProviderSession {
  readonly id: string;
  readonly userId: string;
  readonly provider: string;
  readonly tokens: Tokens;
  /** Differs after each change. */
  readonly version: string;
}

export type SessionStore = ReturnType<typeof createSessionStore>;

/** People's sign-ins through providers; tokens are encrypted, and the row is the lock of renewals on all replicas. */
export function createSessionStore(db: OAuthDatabase, seal: Seal, max: () => number) {
  const at = (id: string) => `provider session ${id}`;
  const open = (row: ProviderSessionRow | undefined): ProviderSession | undefined => {
    try {
      const { id, user_id: userId, provider, token: version } = row ?? {};
      return (
        row &&
        ({ id, userId, provider, version, tokens: seal.open(row.token, at(row.id)) } as ProviderSession)
      );
    } catch {
      // The key is another one by now: the person signs in again.
      return undefined;
    }
  };
  const toValues = (id: string, tokens: Tokens) => ({
    token: seal.seal(tokens, at(id)),
    expires_at: tokens.expiresAt === undefined ? null : Math.floor(tokens.expiresAt / 1000),
    renewed_until: null,
    updated_at: seconds(),
  });
  return {
    /** Resolves to the id; the oldest of more than OAUTH_MAX_SESSIONS_PER_USER are forgotten. */
    async add(
      {
        userId,
        provider,
        subject,
        sid,
      }: { userId: string; provider: string; subject: string; sid: string | null },
      tokens: Tokens,
    ): Promise<string> {
      const id = randomUUID();
      await db
        .insertInto("oauth_provider_session")
        .values({
          id,
          user_id: userId,
          provider,
          subject,
          sid,
          created_at: seconds(),
          ...toValues(id, tokens),
        })
        .execute();
      await sql`
        delete from oauth_provider_session where id in (
          select id from oauth_provider_session where user_id = ${userId} and provider = ${provider}
          order by created_at desc, (id = ${id}) desc offset ${max()}
        )`.execute(db);
      return id;
    },
    async read(id: string): Promise<ProviderSession | undefined> {
      return open(
        await db.selectFrom("oauth_provider_session").selectAll().where("id", "=", id).executeTakeFirst(),
      );
    },
    /** The last sign-in of a person through any provider. */
    async newest(userId: string): Promise<ProviderSession | undefined> {
      const row = await db
        .selectFrom("oauth_provider_session")
        .selectAll()
        .where("user_id", "=", userId)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .limit(1)
        .executeTakeFirst();
      return open(row);
    },
    async list(userId: string) {
      return await db
        .selectFrom("oauth_provider_session")
        .select(["id", "provider", "user_id", "expires_at", "created_at", "updated_at"])
        .where("user_id", "=", userId)
        .orderBy("created_at", "desc")
        .execute();
    },
    ...createRenewals(db, toValues),
    remove: (which: Which) => removeSessions(db, which),
    sweep: () => sweepSessions(db),
  };
}

type Which = { id: string } | { userId: string; provider: string } | { provider: string; sid: string };

/** Resolves to the accounts whose sign-ins were forgotten. */
async function removeSessions(db: OAuthDatabase, which: Which): Promise<string[]> {
  let query = db.deleteFrom("oauth_provider_session").returning("user_id");
  if ("id" in which) {
    query = query.where("id", "=", which.id);
  } else {
    query = query.where("provider", "=", which.provider);
    query = "sid" in which ? query.where("sid", "=", which.sid) : query.where("user_id", "=", which.userId);
  }
  const rows = await query.execute();
  return [...new Set(rows.map((row) => row.user_id))];
}

function createRenewals(
  db: OAuthDatabase,
  toValues: (id: string, tokens: Tokens) => Partial<ProviderSessionRow>,
) {
  return {
    async save({ id }: ProviderSession, tokens: Tokens): Promise<void> {
      await db.updateTable("oauth_provider_session").set(toValues(id, tokens)).where("id", "=", id).execute();
    },
    async beginRenewal({ id, version }: ProviderSession): Promise<boolean> {
      const now = seconds();
      const taken = await db
        .updateTable("oauth_provider_session")
        .set({ renewed_until: now + leaseSeconds })
        .where("id", "=", id)
        .where("token", "=", version)
        .where((eb) => eb.or([eb("renewed_until", "is", null), eb("renewed_until", "<", now)]))
        .executeTakeFirst();
      return taken.numUpdatedRows > 0n;
    },
    async endRenewal({ id }: ProviderSession): Promise<void> {
      await db
        .updateTable("oauth_provider_session")
        .set({ renewed_until: null })
        .where("id", "=", id)
        .execute();
    },
  };
}

async function sweepSessions(db: OAuthDatabase): Promise<void> {
  const before = seconds() - keptDays * 86_400;
  await db.deleteFrom("oauth_provider_session").where("updated_at", "<", before).execute();
}
