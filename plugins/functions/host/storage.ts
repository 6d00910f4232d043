import type { Kysely } from "kysely";
import { AppError } from "#kernel/errors.ts";
import type { Json } from "#kernel/sandbox.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";

/** Whose values: the code's own, or those of one of its callers ("" = all callers share them). */
export interface StorageScope {
  /** Id of the function or tool. */
  readonly codeId: string;
  readonly userId: string;
}

/** The key-value store that each function and each tool has for itself (`host.storage`). */
export interface CodeStorage {
  get(scope: StorageScope, key: string): Promise<Json | undefined>;
  /** Throws `too_large` beyond the quota of the scope, `invalid` for a bad key. */
  set(scope: StorageScope, key: string, value: Json): Promise<void>;
  delete(scope: StorageScope, key: string): Promise<boolean>;
  /** Keys that begin with `prefix`, in order. */
  list(scope: StorageScope, prefix: string): Promise<string[]>;
}

const longestKey = 256;

/** Where values are kept, and the rows that they belong to. */
export interface StorageTables {
  /** The table of functions or tools. */
  readonly owner: string;
  readonly values: string;
  /** Column of `values` that names the row of `owner`. */
  readonly ownerId: string;
}

/** A handle on tables that are named at run time. */
// oxlint-disable-next-line typescript/no-explicit-any
type AnyDatabase = Kysely<any>;

export interface StorageOptions {
  readonly db: AnyDatabase;
  // oxlint-disable-next-line typescript/no-explicit-any
  transaction<R>(run: (tx: any) => Promise<R>): Promise<R>;
  readonly tables: StorageTables;
  /** Bytes of JSON and keys in one scope. */
  quota(): number;
}

/** Creates the store over the tables of one kind of code. */
export function createCodeStorage({ db, transaction, tables, quota }: StorageOptions): CodeStorage {
  const within = (handle: AnyDatabase, { codeId, userId }: StorageScope) =>
    handle.selectFrom(tables.values).where(tables.ownerId, "=", codeId).where("user_id", "=", userId);
  return {
    async get(scope, key) {
      const row = await within(db, scope)
        .select("value")
        .where("key", "=", requireKey(key))
        .executeTakeFirst();
      return row?.["value"] as Json | undefined;
    },
    async set(scope, key, value) {
      const size = toSize(requireKey(key), value);
      await transaction(async (tx: AnyDatabase) => {
        // The row of the code is the lock: two writers must not both find room for the same bytes.
        await tx
          .selectFrom(tables.owner)
          .select("id")
          .where("id", "=", scope.codeId)
          .forUpdate()
          .executeTakeFirst();
        const others = await within(tx, scope)
          .select((eb) => eb.fn.sum<number>("size").as("used"))
          .where("key", "!=", key)
          .executeTakeFirst();
        if (Number(others?.["used"] ?? 0) + size > quota()) {
          throw tooMuch(quota());
        }
        await write(tx, tables, { scope, key, value, size });
      });
    },
    async delete({ codeId, userId }, key) {
      const row = await db
        .deleteFrom(tables.values)
        .where(tables.ownerId, "=", codeId)
        .where("user_id", "=", userId)
        .where("key", "=", requireKey(key))
        .returning("key")
        .executeTakeFirst();
      return row !== undefined;
    },
    async list(scope, prefix) {
      const rows = await within(db, scope)
        .select("key")
        .where((eb) => eb.fn<boolean>("starts_with", ["key", eb.val(prefix)]))
        .orderBy("key")
        .execute();
      return rows.map(({ key }) => String(key));
    },
  };
}

/** Drops values that code kept for an account that is gone. */
export async function forgetUser(db: AnyDatabase, values: string, userId: string): Promise<void> {
  await db.deleteFrom(values).where("user_id", "=", userId).execute();
}

/** A store that nothing outlives, for a dry run; `quota` holds for all scopes together. */
export function createPassingStorage(quota: () => number): CodeStorage {
  let used = 0;
  const values = new Map<string, Json>();
  const toName = ({ userId }: StorageScope, key: string) => JSON.stringify([userId, key]);
  return {
    get: async (scope, key) => values.get(toName(scope, key)),
    async set(scope, key, value) {
      const name = toName(scope, requireKey(key));
      const before = values.has(name) ? toSize(key, values.get(name)) : 0;
      const after = used - before + toSize(key, value);
      if (after > quota()) {
        throw tooMuch(quota());
      }
      used = after;
      values.set(name, value);
    },
    async delete(scope, key) {
      const name = toName(scope, key);
      used -= values.has(name) ? toSize(key, values.get(name)) : 0;
      return values.delete(name);
    },
    list: async (scope, prefix) =>
      [...values.keys()]
        .map((name) => JSON.parse(name) as [string, string])
        .filter(([userId, key]) => userId === scope.userId && key.startsWith(prefix))
        .map(([, key]) => key)
        .toSorted(),
  };
}

function toSize(key: string, value: Json | undefined): number {
  return Buffer.byteLength(JSON.stringify(value ?? null)) + Buffer.byteLength(key);
}

function tooMuch(quota: number): AppError {
  return new AppError("too_large", `A function or tool may store at most ${quota} bytes.`);
}

async function write(
  tx: AnyDatabase,
  tables: StorageTables,
  { scope, key, value, size }: { scope: StorageScope; key: string; value: Json; size: number },
): Promise<void> {
  const kept = { value: toJson<unknown>(value), size, updated_at: seconds() };
  await tx
    .insertInto(tables.values)
    .values({ [tables.ownerId]: scope.codeId, user_id: scope.userId, key, ...kept })
    .onConflict((conflict) => conflict.columns([tables.ownerId, "user_id", "key"]).doUpdateSet(kept))
    .execute();
}

function requireKey(key: unknown): string {
  if (typeof key !== "string" || key === "" || key.length > longestKey) {
    throw new AppError("invalid", `A storage key is a text of 1 to ${longestKey} characters.`);
  }
  return key;
}
