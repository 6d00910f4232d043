import { createHash, randomBytes } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import { createSigningSecret } from "#kernel/webhook-signature.ts";
import { seconds } from "#storage/clock.ts";
import type { AppKeys } from "#plugins/accounts/service.ts";
import { areChannelsOn, type AppParts, type RegistryParts, requireApp } from "../parts.ts";
import type { AppSecrets } from "../schema.ts";
import { scopeOfRequest } from "../scopes.ts";
import type { AppRow } from "../tables.ts";
import { showApp } from "./show-app.ts";

export const secretPlace = (id: string) => `app:${id}:secret`;
const keyForm = /^sk-app-[0-9a-f]{64}$/;

/** A new key, and the columns that keep it: its hash, and what it is recognised by. */
export function createKey() {
  const value = `sk-app-${randomBytes(32).toString("hex")}`;
  return {
    value,
    columns: { key_hash: toHash(value), key_hint: value.slice(-4), key_created_at: seconds() },
  };
}

// 256 random bits need no slow hash, and a plain one can be looked up.
const toHash = (key: string) => createHash("sha256").update(key).digest("hex");

export type Secrets = ReturnType<typeof createSecrets>;

/** Keys and signing secrets in the hands of administrators. A change ends the old one at once on every replica. */
export function createSecrets(parts: RegistryParts) {
  const { db, seal } = parts;
  const store = async (
    id: string,
    change: Partial<Pick<AppRow, "key_hash" | "key_hint" | "key_created_at" | "sealed_secret">>,
    done: "key rotated" | "key revoked" | "secret renewed",
  ): Promise<AppRow> => {
    const { name } = await requireApp(db, id);
    const row = await parts.transaction(async (tx) => {
      const changed = await tx
        .updateTable("app")
        .set({ ...change, updated_at: seconds() })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      const object = { type: "app", id, name };
      await parts.record({ action: "app.updated", object, after: { change: done } }, tx);
      return changed;
    });
    if (row === undefined) {
      throw new AppError("not_found", "App not found");
    }
    await parts.accounts.bots.changed(row.user_id);
    return row;
  };
  return {
    async rotateKey(id: string): Promise<AppSecrets> {
      const key = createKey();
      return await showApp(parts, await store(id, key.columns, "key rotated"), { api_key: key.value });
    },
    async revokeKey(id: string): Promise<AppSecrets> {
      const none = { key_hash: null, key_hint: null, key_created_at: null };
      return await showApp(parts, await store(id, none, "key revoked"));
    },
    async renewSecret(id: string): Promise<AppSecrets> {
      const secret = createSigningSecret();
      const row = await store(id, { sealed_secret: seal.seal(secret, secretPlace(id)) }, "secret renewed");
      return await showApp(parts, row, { signing_secret: secret });
    },
  };
}

/** Keys of apps, for the one authenticator. */
export function createAppKeys(
  parts: Pick<AppParts, "db" | "channels" | "configuration" | "isEnabled">,
): AppKeys {
  return {
    async find(key) {
      if (!keyForm.test(key)) {
        return undefined;
      }
      const row = await parts.db
        .selectFrom("app")
        .select(["id", "user_id", "name", "scopes", "enabled"])
        .where("key_hash", "=", toHash(key))
        .executeTakeFirst();
      if (row?.enabled === false) {
        throw new AppError("forbidden", "This app is switched off.");
      }
      return row && { id: row.id, userId: row.user_id, name: row.name, scopes: row.scopes };
    },
    require(scopes, request) {
      if (!parts.isEnabled() || !areChannelsOn(parts)) {
        throw new AppError("forbidden", "Apps are switched off.");
      }
      const needed = scopeOfRequest(request);
      if (needed === undefined) {
        throw new AppError("forbidden", "Keys of apps are not good for this endpoint.");
      }
      if (needed !== null && !scopes.includes(needed)) {
        throw new AppError("forbidden", `This app has not the scope ${needed}.`);
      }
    },
  };
}
