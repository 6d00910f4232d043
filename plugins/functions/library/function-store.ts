import type { Selectable } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import { declaredCapabilities } from "../calls/facts.ts";
import { isWideningReason, toWidened, toWideningReason } from "./widening.ts";
import type { FunctionsDatabase, FunctionTable, FunctionVersionTable } from "../tables.ts";

export type FunctionRow = Selectable<FunctionTable>;
export type VersionRow = Selectable<FunctionVersionTable>;

/** Versions of its code that a function keeps; the oldest go first. */
export const keptVersions = 50;

/** The code of a function with what was read from it. */
export type CodeFields = Pick<FunctionRow, "name" | "type" | "content" | "meta">;

export async function listFunctions(db: FunctionsDatabase): Promise<FunctionRow[]> {
  return await db.selectFrom("function").selectAll().orderBy("name").orderBy("id").execute();
}

export async function listActive(db: FunctionsDatabase): Promise<FunctionRow[]> {
  return await db.selectFrom("function").selectAll().where("is_active", "=", true).orderBy("id").execute();
}

export async function findFunction(db: FunctionsDatabase, id: string): Promise<FunctionRow | undefined> {
  return await db.selectFrom("function").selectAll().where("id", "=", id).executeTakeFirst();
}

/** The row of an update. Throws `not_found` when it was deleted meanwhile. */
export function requireFunction(row: FunctionRow | undefined): FunctionRow {
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

/** Stores a new function, inactive; undefined when the id is taken. */
export async function insertFunction(
  db: FunctionsDatabase,
  fields: CodeFields & { id: string; user_id: string },
): Promise<FunctionRow | undefined> {
  const now = seconds();
  const row = await db
    .insertInto("function")
    .values({
      ...fields,
      meta: toJson(fields.meta),
      valves: toJson({}),
      is_active: false,
      is_global: false,
      version: 1,
      error: null,
      approved: null,
      pending: null,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) {
    await addVersion(db, row, fields.user_id);
  }
  return row;
}

/**
 * Replaces code and facts; a changed code becomes a version by `author`. An active function whose code declares more than
 * before is switched off. Undefined when the function is gone. Throws `conflict` when `changed` is not the present version.
 */
export async function updateCode(
  db: FunctionsDatabase,
  id: string,
  { fields, author, changed }: { fields: CodeFields; author: string; changed?: string | undefined },
): Promise<FunctionRow | undefined> {
  const before = await db
    .selectFrom("function")
    .select(["content", "version", "meta", "is_active", "error"])
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (before === undefined) {
    return undefined;
  }
  if (changed !== undefined && changed !== String(before.version)) {
    throw new AppError(
      "conflict",
      `Version ${before.version} was saved since you opened version ${changed}. Compare them before you save yours.`,
    );
  }
  const isNew = before.content !== fields.content;
  const version = before.version + (isNew ? 1 : 0);
  const row = await db
    .updateTable("function")
    .set({ ...fields, ...toState(before, fields), meta: toJson(fields.meta), version, updated_at: seconds() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined && isNew) {
    await addVersion(db, row, author);
  }
  return row;
}

function toState(
  before: Pick<FunctionRow, "meta" | "is_active" | "error">,
  { meta }: CodeFields,
): Pick<FunctionRow, "is_active" | "error"> {
  if (!before.is_active) {
    return { is_active: false, error: isWideningReason(before.error) ? before.error : null };
  }
  const widened = toWidened(declaredCapabilities(before.meta), declaredCapabilities(meta));
  return widened.length > 0
    ? { is_active: false, error: toWideningReason(widened) }
    : { is_active: true, error: null };
}

type StateFields = Pick<FunctionRow, "is_active" | "is_global" | "error" | "approved" | "pending" | "meta">;

export async function updateFields(
  db: FunctionsDatabase,
  id: string,
  { approved, pending, meta, ...fields }: Partial<StateFields>,
): Promise<FunctionRow | undefined> {
  return await db
    .updateTable("function")
    .set({
      ...fields,
      ...(meta === undefined ? {} : { meta: toJson(meta) }),
      ...(approved === undefined ? {} : { approved: toJson(approved) }),
      ...(pending === undefined ? {} : { pending: pending && toJson(pending) }),
      updated_at: seconds(),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
}

export async function updateValves(db: FunctionsDatabase, id: string, valves: unknown): Promise<void> {
  await db
    .updateTable("function")
    .set({ valves: toJson(valves), updated_at: seconds() })
    .where("id", "=", id)
    .execute();
}

/** Switches an active function off with a reason; false when it is off already or its code is another by now. */
export async function switchOff(
  db: FunctionsDatabase,
  { id, content }: { id: string; content?: string | undefined },
  reason: string,
): Promise<boolean> {
  const row = await db
    .updateTable("function")
    .set({ is_active: false, error: reason, updated_at: seconds() })
    .where("id", "=", id)
    .where("is_active", "=", true)
    .$if(content !== undefined, (query) => query.where("content", "=", content as string))
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** True when there was one. Versions and storage go with it. */
export async function deleteFunction(db: FunctionsDatabase, id: string): Promise<boolean> {
  return (
    (await db.deleteFrom("function").where("id", "=", id).returning("id").executeTakeFirst()) !== undefined
  );
}

/** Newest first. */
export async function listVersions(
  db: FunctionsDatabase,
  id: string,
): Promise<Omit<VersionRow, "content">[]> {
  return await db
    .selectFrom("function_version")
    .select(["function_id", "version", "user_id", "created_at"])
    .where("function_id", "=", id)
    .orderBy("version", "desc")
    .execute();
}

export async function findVersion(
  db: FunctionsDatabase,
  id: string,
  version: number,
): Promise<VersionRow | undefined> {
  return await db
    .selectFrom("function_version")
    .selectAll()
    .where("function_id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
}

async function addVersion(db: FunctionsDatabase, row: FunctionRow, author: string): Promise<void> {
  const { id, version, content, updated_at: time } = row;
  await db
    .insertInto("function_version")
    .values({ function_id: id, version, content, user_id: author, created_at: time })
    .execute();
  await db
    .deleteFrom("function_version")
    .where("function_id", "=", id)
    .where("version", "<=", version - keptVersions)
    .execute();
}
