import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import type { CoreTables } from "#storage/core-tables.ts";
import { BootError } from "./order.ts";

/** Keys that stand in guides and examples: whoever knows them could sign in as anybody. */
const wellKnown = new Set(["secret", "changeme", "change-me", "password", "t0p-s3cr3t", "your-secret-key", "mysecretkey", "supersecret"]);
const minLength = 16;

/**
 * The key that signs sessions: WEBUI_SECRET_KEY, or one that is made at the first start and kept in the database,
 * so that all replicas share it. Throws BootError for a short or well-known key. Contract D.10.
 */
export async function openSecretKey(db: Kysely<CoreTables>, given: string | null): Promise<string> {
  if (given) {
    if (given.length < minLength || wellKnown.has(given.toLowerCase())) {
      throw new BootError(
        `WEBUI_SECRET_KEY is too weak: set at least ${minLength} random characters, or leave it out and one is made and kept in the database.`,
      );
    }
    return given;
  }
  const made = { name: "session", value: randomBytes(48).toString("base64url") };
  await db.insertInto("secret").values(made).onConflict((conflict) => conflict.column("name").doNothing()).execute();
  const row = await db.selectFrom("secret").select("value").where("name", "=", "session").executeTakeFirstOrThrow();
  return row.value;
}
