import { AppError } from "#kernel/errors.ts";
import type { Json } from "#kernel/sandbox.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { FunctionsDatabase, FunctionsTransaction } from "../tables.ts";

/** Whose values: a function's own, or those of one of its callers ("" = all callers share them). */
export interface StorageScope {
  readonly functionId: string;
  readonly userId: string;
}

/** The key-value store that each function has for itself (`host.storage`). */
export interface FunctionStorage {
  get(scope: StorageScope, key: string): Promise<Json | undefined>;
  /** Throws `too_large` beyond the quota of the scope, `invalid` for a bad key. */
  set(scope: StorageScope, key: string, value: Json): Promise<void>;
  delete(scope: StorageScope, key: string): Promise<boolean>;
  /** Keys that begin with `prefix`, in order. */
  list(scope: StorageScope, prefix: string): Promise<string[]>;
}

const longestKey = 256;

/** Creates the store; `quota` is bytes of JSON and keys in one scope. */
export function createFunctionStorage(options: {
  readonly db: FunctionsDatabase;
  readonly transaction: FunctionsTransaction;
  quota(): number;
}): FunctionStorage {
  const { db, transaction, quota } = options;
  return {
    async get(scope, key) {
      const row = await within(db, scope)
        .select("value")
        .where("key", "=", requireKey(key))
        .executeTakeFirst();
      return row?.value as Json | undefined;
    },
    async set(scope, key, value) {
      const size = toSize(requireKey(key), value);
      await transaction(async (tx) => {
        // The row of the function is the lock: two writers must not both find room for the same bytes.
        await tx
          .selectFrom("function")
          .select("id")
          .where("id", "=", scope.functionId)
          .forUpdate()
          .executeTakeFirst();
        const others = await within(tx, scope)
          .select((eb) => eb.fn.sum("size").as("used"))
          .where("key", "!=", key)
          .executeTakeFirst();
        if (Number(others?.used ?? 0) + size > quota()) {
          throw tooMuch(quota());
        }
        await write(tx, { scope, key, value, size });
      });
    },
    async delete({ functionId, userId }, key) {
      const row = await db
        .deleteFrom("function_storage")
        .where("function_id", "=", functionId)
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
      return rows.map(({ key }) => key);
    },
  };
}

/** Drops values that functions kept for an account that is gone. */
export async function forgetUser(db: FunctionsDatabase, userId: string): Promise<void> {
  await db.deleteFrom("function_storage").where("user_id", "=", userId).execute();
}

/** A store that nothing outlives, for a dry run; `quota` holds for all scopes together. */
export function createPassingStorage(quota: () => number): FunctionStorage {
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
  return new AppError("too_large", `A function may store at most ${quota} bytes.`);
}

function within(db: FunctionsDatabase, { functionId, userId }: StorageScope) {
  return db
    .selectFrom("function_storage")
    .where("function_id", "=", functionId)
    .where("user_id", "=", userId);
}

async function write(
  tx: FunctionsDatabase,
  { scope, key, value, size }: { scope: StorageScope; key: string; value: Json; size: number },
): Promise<void> {
  const kept = { value: toJson<unknown>(value), size, updated_at: seconds() };
  await tx
    .insertInto("function_storage")
    .values({ function_id: scope.functionId, user_id: scope.userId, key, ...kept })
    .onConflict((conflict) => conflict.columns(["function_id", "user_id", "key"]).doUpdateSet(kept))
    .execute();
}

function requireKey(key: unknown): string {
  if (typeof key !== "string" || key === "" || key.length > longestKey) {
    throw new AppError("invalid", `A storage key is a text of 1 to ${longestKey} characters.`);
  }
  return key;
}
