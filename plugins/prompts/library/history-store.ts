import { randomUUID } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { HistoryRow, PromptDatabase, Snapshot } from "../tables.ts";

/** Versions of one page (contract §0). */
export const historyPage = 20;
/** Versions that a prompt keeps; the oldest go first, the one in use never. */
const keptVersions = 200;

export interface NewVersion {
  readonly promptId: string;
  readonly parentId: string | null;
  readonly snapshot: Snapshot;
  readonly author: string;
  readonly message: string | null;
}

/** Stores a version; resolves to its id. `live` is kept whatever its age. */
export async function addVersion(tx: PromptDatabase, version: NewVersion): Promise<string> {
  const { promptId, parentId, snapshot, author, message } = version;
  const id = randomUUID();
  await tx
    .insertInto("prompt_history")
    .values({
      id,
      prompt_id: promptId,
      parent_id: parentId,
      snapshot: toJson(snapshot),
      user_id: author,
      commit_message: message,
      created_at: seconds(),
    })
    .execute();
  const old = await versionsOf(tx, promptId).select("id").offset(keptVersions).limit(100).execute();
  const gone = old.map((row) => row.id).filter((one) => one !== parentId && one !== id);
  if (gone.length > 0) {
    await tx.deleteFrom("prompt_history").where("id", "in", gone).execute();
  }
  return id;
}

/** Newest first. */
export async function pageVersions(
  db: PromptDatabase,
  promptId: string,
  page: number,
): Promise<HistoryRow[]> {
  return await versionsOf(db, promptId)
    .selectAll()
    .limit(historyPage)
    .offset(page * historyPage)
    .execute();
}

/** Throws `not_found` for a version that is not kept, or is of another prompt. */
export async function findVersion(db: PromptDatabase, promptId: string, id: string): Promise<HistoryRow> {
  const row = await db
    .selectFrom("prompt_history")
    .selectAll()
    .where("id", "=", id)
    .where("prompt_id", "=", promptId)
    .executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", "This prompt has no such version.");
  }
  return row;
}

/** Versions that followed the deleted one follow the one before it. */
export async function deleteVersion(tx: PromptDatabase, version: HistoryRow): Promise<void> {
  await tx
    .updateTable("prompt_history")
    .set({ parent_id: version.parent_id })
    .where("prompt_id", "=", version.prompt_id)
    .where("parent_id", "=", version.id)
    .execute();
  await tx.deleteFrom("prompt_history").where("id", "=", version.id).execute();
}

function versionsOf(db: PromptDatabase, promptId: string) {
  return db
    .selectFrom("prompt_history")
    .where("prompt_id", "=", promptId)
    .orderBy("created_at", "desc")
    .orderBy("seq", "desc");
}
