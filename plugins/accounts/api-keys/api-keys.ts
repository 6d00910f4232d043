import { createHash, randomBytes } from "node:crypto";
import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import type { AccountsDeps } from "../deps.ts";
import type { AccountsDatabase } from "../tables.ts";

/** A key as its owner may see it later on: enough to recognise it by. */
export interface ApiKeyView {
  readonly api_key: string;
  /** Epoch seconds. */
  readonly created_at: number;
}

/** An account's one API key (contract D.7). */
export interface ApiKeys {
  /** Replaces the caller's key; the answer is the only place the whole key ever appears. Throws `forbidden`. */
  create(caller: Principal): Promise<{ api_key: string }>;
  /** The caller's key, masked. Throws `forbidden`, or `not_found` when there is none. */
  find(caller: Principal): Promise<ApiKeyView>;
  /** Deletes the caller's key; true whether there was one or not. Throws `forbidden`. */
  remove(caller: Principal): Promise<boolean>;
}

const keyForm = /^sk-[0-9a-f]{64}$/;

/** True for what is meant as a key rather than a session token. */
export function isApiKey(credential: string): boolean {
  return credential.startsWith("sk-");
}

/** True for a key of the workspace gateway, which is good there alone (contract D.7). */
export function isGatewayKey(credential: string): boolean {
  return credential.startsWith("sk-gw-");
}

/** True for a key of an app, which the plugin of apps knows. */
export function isAppKey(credential: string): boolean {
  return credential.startsWith("sk-app-");
}

/** The account whose key this is. */
export async function findKeyOwner(db: AccountsDatabase, key: string): Promise<string | undefined> {
  if (!keyForm.test(key)) {
    return undefined;
  }
  const row = await db
    .selectFrom("api_key")
    .select("user_id")
    .where("key", "=", toHash(key))
    .executeTakeFirst();
  return row?.user_id;
}

/** Creates the functions behind the key routes. */
export function createApiKeys({ db, transaction, config, changes, emit }: AccountsDeps): ApiKeys {
  const requireAllowed = (caller: Principal) => {
    if (!config.apiKeys) {
      throw new AppError("forbidden", "API keys are switched off.");
    }
    if (!hasPermission(caller, "features.api_keys")) {
      throw new AppError("forbidden", "Your account may not use API keys.");
    }
  };
  return {
    async create(caller) {
      requireAllowed(caller);
      const key = `sk-${randomBytes(32).toString("hex")}`;
      await transaction(async (tx) => await replaceKey(tx, caller.userId, key));
      await changes.announce({ userId: caller.userId });
      emit("auth.api_key.created", { user_id: caller.userId });
      return { api_key: key };
    },
    async find(caller) {
      requireAllowed(caller);
      const row = await db
        .selectFrom("api_key")
        .select(["hint", "created_at"])
        .where("user_id", "=", caller.userId)
        .executeTakeFirst();
      if (row === undefined) {
        throw new AppError("not_found", "Your account has no API key.");
      }
      return { api_key: `sk-…${row.hint}`, created_at: row.created_at };
    },
    async remove(caller) {
      requireAllowed(caller);
      const gone = await db
        .deleteFrom("api_key")
        .where("user_id", "=", caller.userId)
        .returning("id")
        .execute();
      if (gone.length > 0) {
        await changes.announce({ userId: caller.userId });
        emit("auth.api_key.deleted", { user_id: caller.userId });
      }
      return true;
    },
  };
}

// Two requests at once must not leave an account with two keys: the second one replaces what the first one stored. A
// conflict is named by no column, because the account is unique as well as the id, and the database reports the other.
async function replaceKey(db: AccountsDatabase, userId: string, key: string): Promise<void> {
  const now = seconds();
  const row = { key: toHash(key), hint: key.slice(-4), created_at: now, updated_at: now };
  const added = await db
    .insertInto("api_key")
    .values({
      id: `key_${userId}`,
      user_id: userId,
      ...row,
      data: null,
      expires_at: null,
      last_used_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  if (added === undefined) {
    await db.updateTable("api_key").set(row).where("user_id", "=", userId).execute();
  }
}

// The keys are 256 random bits, so a plain digest is as good as a slow one and can be looked up.
function toHash(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
