import { randomBytes, randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { type SecretCodec } from "#config/registry.ts";
import type { CoreTables } from "#storage/core-tables.ts";
import { createSeal, isSealed } from "./seal.ts";

/**
 * The key that signs sessions: WEBUI_SECRET_KEY, or one that is made at the first start and kept in the database,
 * so that all replicas share it. Contract D.10; the variable itself refuses short and well-known keys.
 */
export async function openSecretKey(db: Kysely<CoreTables>, given: string | null): Promise<string> {
  return given || (await findOrStore(db, "session", randomBytes(48).toString("base64url")));
}

/**
 * Names the database that replicas share, such as in channels of a Redis that other deployments use, too. It consists of
 * an id that is stored once and of the database's number: a copy beside the original has the same stored id.
 */
export async function readDatabaseId(db: Kysely<CoreTables>): Promise<string> {
  const stored = await findOrStore(db, "database", randomUUID());
  const { rows } = await currentDatabase.execute(db);
  return `${stored}.${rows[0]?.oid}`;
}

const currentDatabase = sql<{
  oid: number;
}>`select oid::int8 as oid from pg_database where datname = current_database()`;

/** The value stored under `name`; the first caller's is stored. */
async function findOrStore(db: Kysely<CoreTables>, name: string, value: string): Promise<string> {
  await db
    .insertInto("secret")
    .values({ name, value })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  const row = await db
    .selectFrom("secret")
    .select("value")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return row.value;
}

/**
 * Encrypts the secrets of stored settings with WEBUI_SECRET_KEY. A generated key lies in the same database and
 * would protect nothing: without the variable they are stored as they are.
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
