import type { Selectable } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { ToolsDatabase, ToolTable, ToolVersionTable } from "../tables.ts";

export type ToolRow = Selectable<ToolTable>;

/** Versions of its code that a tool keeps; the oldest go first. */
const keptVersions = 50;

/** The columns that follow from code and form. */
export type CodeFields = Pick<
  ToolRow,
  "name" | "content" | "specs" | "meta" | "error" | "approved" | "pending"
>;

/** Rows without their code, which lists do not show. */
export type ToolListRow = Omit<ToolRow, "content" | "valves">;

const listed = [
  "id",
  "user_id",
  "name",
  "specs",
  "meta",
  "version",
  "error",
  "approved",
  "pending",
  "created_at",
  "updated_at",
] as const;

/** All tools in the order of their names, for a `where` of the caller's. */
export function selectTools(db: ToolsDatabase) {
  return db.selectFrom("tool").select(listed).orderBy("name").orderBy("id");
}

export async function findTool(db: ToolsDatabase, id: string): Promise<ToolRow | undefined> {
  return await db.selectFrom("tool").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function findTools(db: ToolsDatabase, ids: readonly string[]): Promise<ToolRow[]> {
  return ids.length === 0
    ? []
    : await db.selectFrom("tool").selectAll().where("id", "in", ids).orderBy("id").execute();
}

export async function existingTools(db: ToolsDatabase, ids: readonly string[]): Promise<string[]> {
  const rows =
    ids.length === 0 ? [] : await db.selectFrom("tool").select("id").where("id", "in", ids).execute();
  return rows.map(({ id }) => id);
}

/** The row of a change. Throws `not_found` when it was deleted meanwhile. */
export function requireTool(row: ToolRow | undefined): ToolRow {
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

/** Stores a new tool; undefined when the id is taken. */
export async function insertTool(
  db: ToolsDatabase,
  { id, user_id, ...fields }: CodeFields & { id: string; user_id: string },
): Promise<ToolRow | undefined> {
  const now = seconds();
  const row = await db
    .insertInto("tool")
    .values({
      id,
      user_id,
      ...toColumns(fields),
      valves: toJson({}),
      version: 1,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) {
    await addVersion(db, row, user_id);
  }
  return row;
}

/** Replaces code and facts; a changed code becomes a version by `author`. */
export async function updateTool(
  db: ToolsDatabase,
  before: ToolRow,
  { fields, author }: { fields: CodeFields; author: string },
): Promise<ToolRow> {
  const isNew = before.content !== fields.content;
  const version = before.version + (isNew ? 1 : 0);
  const row = await db
    .updateTable("tool")
    .set({ ...toColumns(fields), version, updated_at: seconds() })
    .where("id", "=", before.id)
    .returningAll()
    .executeTakeFirst();
  const stored = requireTool(row);
  if (isNew) {
    await addVersion(db, stored, author);
  }
  return stored;
}

/** The row of now, kept from other changes until the transaction ends. */
export async function lockTool(db: ToolsDatabase, id: string): Promise<ToolRow> {
  return requireTool(
    await db.selectFrom("tool").selectAll().where("id", "=", id).forUpdate().executeTakeFirst(),
  );
}

/** Stores what an administrator decided, or why the server took the tool out of use. */
export async function updateState(
  db: ToolsDatabase,
  id: string,
  state: Partial<Pick<ToolRow, "approved" | "pending" | "error">>,
): Promise<ToolRow> {
  const { approved, pending, error } = state;
  const row = await db
    .updateTable("tool")
    .set({
      ...(approved !== undefined && { approved: toJson(approved) }),
      ...(pending !== undefined && { pending: pending && toJson(pending) }),
      ...(error !== undefined && { error }),
      updated_at: seconds(),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
  return requireTool(row);
}

export async function updateToolValves(db: ToolsDatabase, id: string, valves: unknown): Promise<void> {
  await db
    .updateTable("tool")
    .set({ valves: toJson(valves), updated_at: seconds() })
    .where("id", "=", id)
    .execute();
}

export async function listVersions(db: ToolsDatabase, id: string) {
  return await db
    .selectFrom("tool_version")
    .select(["version", "user_id", "created_at"])
    .where("tool_id", "=", id)
    .orderBy("version", "desc")
    .execute();
}

/** Throws `not_found` for a version that is not kept. */
export async function findVersion(
  db: ToolsDatabase,
  id: string,
  version: number,
): Promise<Omit<Selectable<ToolVersionTable>, "tool_id">> {
  const row = await db
    .selectFrom("tool_version")
    .select(["version", "user_id", "created_at", "content"])
    .where("tool_id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

function toColumns({ specs, meta, approved, pending, ...fields }: CodeFields) {
  return {
    ...fields,
    specs: toJson(specs),
    meta: toJson(meta),
    approved: approved === null ? null : toJson(approved),
    pending: pending && toJson(pending),
  };
}

async function addVersion(db: ToolsDatabase, row: ToolRow, author: string): Promise<void> {
  const { id, version, content, updated_at: time } = row;
  const kept = { tool_id: id, version, content, user_id: author, created_at: time };
  await db.insertInto("tool_version").values(kept).execute();
  const oldest = version - keptVersions;
  await db.deleteFrom("tool_version").where("tool_id", "=", id).where("version", "<=", oldest).execute();
}
