import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { granted } from "#storage/grants.ts";
import { anyOf, toJson } from "#storage/values.ts";
import { type PromptDatabase, type PromptRow, resourceType, type Snapshot } from "../tables.ts";

export async function findPrompt(db: PromptDatabase, id: string): Promise<PromptRow | undefined> {
  return await db.selectFrom("prompt").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function existingPrompts(db: PromptDatabase, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom("prompt").select("id").where("id", "=", anyOf(ids)).execute();
  return rows.map(({ id }) => id);
}

/** The row of now, kept from other changes until the transaction ends. Throws `not_found`. */
export async function lockPrompt(tx: PromptDatabase, id: string): Promise<PromptRow> {
  const row = await tx.selectFrom("prompt").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

/** Prompts that a caller may use this way; `all` for administrators who pass without a grant. */
export function selectPermitted(
  db: PromptDatabase,
  caller: Principal,
  { all, permission }: { all: boolean; permission: "read" | "write" },
) {
  const query = db.selectFrom("prompt");
  return all
    ? query
    : query.where((eb) =>
        eb.or([
          eb("prompt.user_id", "=", caller.userId),
          granted(eb, resourceType, "prompt.id", caller, permission),
        ]),
      );
}

/** Stores a new prompt without a version. Throws `invalid` when its command is taken. */
export async function insertPrompt(
  tx: PromptDatabase,
  { userId, snapshot, isActive }: { userId: string; snapshot: Snapshot; isActive: boolean },
): Promise<PromptRow> {
  const now = seconds();
  const row = await tx
    .insertInto("prompt")
    .values({
      ...toColumns(snapshot),
      id: randomUUID(),
      user_id: userId,
      is_active: isActive,
      version_id: null,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.expression(sql`lower(command)`).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) {
    throw taken(snapshot.command);
  }
  return row;
}

/** Changes columns of a prompt. Throws `invalid` when its new command is taken. */
export async function updatePrompt(
  tx: PromptDatabase,
  id: string,
  change: { snapshot?: Snapshot; isActive?: boolean; versionId?: string | null },
): Promise<PromptRow> {
  const { snapshot, isActive, versionId } = change;
  if (snapshot !== undefined) {
    await requireFree(tx, id, snapshot.command);
  }
  return await tx
    .updateTable("prompt")
    .set({
      ...(snapshot && toColumns(snapshot)),
      ...(isActive !== undefined && { is_active: isActive }),
      ...(versionId !== undefined && { version_id: versionId }),
      updated_at: seconds(),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Serialises changes of one command: the unique index alone would abort the transaction without a sentence. */
async function requireFree(tx: PromptDatabase, id: string, command: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext(${`prompt:${command.toLowerCase()}`}))`.execute(tx);
  const other = await tx
    .selectFrom("prompt")
    .select("id")
    .where(sql`lower(command)`, "=", sql<string>`lower(${command})`)
    .where("id", "<>", id)
    .executeTakeFirst();
  if (other !== undefined) {
    throw taken(command);
  }
}

export const toSnapshot = ({ name, command, content, data, meta, tags }: PromptRow): Snapshot => ({
  name,
  command,
  content,
  data,
  meta,
  tags,
});

function toColumns({ name, command, content, data, meta, tags }: Snapshot) {
  return { name, command, content, data: toJson(data), meta: toJson(meta), tags: toJson(tags) };
}

function taken(command: string): AppError {
  return new AppError("invalid", `command: /${command} is taken already. Choose another one.`);
}
