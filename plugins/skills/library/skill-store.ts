import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { granted } from "#storage/grants.ts";
import { anyOf, toJson } from "#storage/values.ts";
import { resourceType, type SkillDatabase, type SkillRow } from "../tables.ts";

export interface SkillFile {
  readonly path: string;
  readonly content: Uint8Array;
}

export type SkillFields = Pick<SkillRow, "name" | "description" | "content" | "meta" | "is_active">;

export async function findSkill(db: SkillDatabase, id: string): Promise<SkillRow | undefined> {
  return await db.selectFrom("skill").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function existingSkills(db: SkillDatabase, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom("skill").select("id").where("id", "=", anyOf(ids)).execute();
  return rows.map(({ id }) => id);
}

/** The row of now, kept from other changes until the transaction ends. Throws `not_found`. */
export async function lockSkill(tx: SkillDatabase, id: string): Promise<SkillRow> {
  const row = await tx.selectFrom("skill").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

/** Skills that a caller may use this way; `all` for administrators who pass without a grant. */
export function selectPermitted(
  db: SkillDatabase,
  caller: Principal,
  { all, permission }: { all: boolean; permission: "read" | "write" },
) {
  const query = db.selectFrom("skill");
  return all
    ? query
    : query.where((eb) =>
        eb.or([
          eb("skill.user_id", "=", caller.userId),
          granted(eb, resourceType, "skill.id", caller, permission),
        ]),
      );
}

/** Stores a new skill; undefined when its id is taken. */
export async function insertSkill(
  tx: SkillDatabase,
  { id, userId, meta, ...fields }: SkillFields & { id: string; userId: string },
): Promise<SkillRow | undefined> {
  const now = seconds();
  return await tx
    .insertInto("skill")
    .values({ ...fields, id, user_id: userId, meta: toJson(meta), created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function updateSkill(
  tx: SkillDatabase,
  id: string,
  { meta, ...fields }: Partial<SkillFields>,
): Promise<SkillRow> {
  return await tx
    .updateTable("skill")
    .set({ ...fields, ...(meta && { meta: toJson(meta) }), updated_at: seconds() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Path and size of the files of skills, in the order of their paths. */
export async function listFiles(db: SkillDatabase, ids: readonly string[]) {
  return await db
    .selectFrom("skill_file")
    .select(["skill_id", "path", "size"])
    .where("skill_id", "=", anyOf(ids))
    .orderBy("path")
    .execute();
}

export async function readFiles(db: SkillDatabase, id: string): Promise<SkillFile[]> {
  return await db
    .selectFrom("skill_file")
    .select(["path", "content"])
    .where("skill_id", "=", id)
    .orderBy("path")
    .execute();
}

/** Throws `not_found`. */
export async function readFile(db: SkillDatabase, id: string, path: string): Promise<SkillFile> {
  const row = await db
    .selectFrom("skill_file")
    .select(["path", "content"])
    .where("skill_id", "=", id)
    .where("path", "=", path.replaceAll("\u0000", ""))
    .executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", "This skill has no such file.");
  }
  return row;
}

export async function putFile(tx: SkillDatabase, id: string, { path, content }: SkillFile): Promise<void> {
  const values = { content: Buffer.from(content), size: content.length };
  await tx
    .insertInto("skill_file")
    .values({ skill_id: id, path, ...values })
    .onConflict((conflict) => conflict.columns(["skill_id", "path"]).doUpdateSet(values))
    .execute();
}
