import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import type { CoreTables } from "#storage/core-tables.ts";

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
