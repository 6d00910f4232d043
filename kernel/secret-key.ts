import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import { type SecretCodec } from "#config/registry.ts";
import type { CoreTables } from "#storage/core-tables.ts";
import { createSeal, isSealed } from "./seal.ts";

/**
 * The key that signs sessions: WEBUI_SECRET_KEY, or one that is made at the first start and kept in the database,
 * so that all replicas share it. Contract D.10; the variable itself refuses short and well-known keys.
 */
export async function openSecretKey(db: Kysely<CoreTables>, given: string | null): Promise<string> {
  if (given) {
    return given;
  }
  const made = { name: "session", value: randomBytes(48).toString("base64url") };
  await db
    .insertInto("secret")
    .values(made)
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  const row = await db
    .selectFrom("secret")
    .select("value")
    .where("name", "=", "session")
    .executeTakeFirstOrThrow();
  return row.value;
}

/**
 * Encrypts the secrets of stored settings with WEBUI_SECRET_KEY. A key that was made stands in the same database as
 * they do, where it protects nothing: without the variable they are stored as they are.
 */
export function createSecretCodec(given: string | null): SecretCodec {
  if (!given) {
    return { encrypts: false, isSealed, seal: (text) => text, open: () => undefined };
  }
  const { seal, open } = createSeal(given, "settings");
  return {
    encrypts: true,
    isSealed,
    seal,
    open(sealed, place) {
      try {
        return String(open(sealed, place));
      } catch {
        return undefined;
      }
    },
  };
}
