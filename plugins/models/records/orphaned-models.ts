import { type Expression, type SqlBool, sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { notifyWith } from "#storage/notify.ts";
import { toJson } from "#storage/values.ts";
import { linkedFiles } from "../pictures/linked-files.ts";
import { type ModelParts, resourceType } from "../parts.ts";
import { deleteRows, lockRows, modelsChannel } from "./store.ts";
import type { ModelDatabase } from "../tables.ts";

type Parts = Pick<ModelParts, "db" | "transaction" | "grants" | "records" | "files" | "accounts">;

/**
 * Deletes private models of deleted accounts. Shared ones, and those that edit a provider's model, stay without an
 * owner for administrators; links to files that went with the account are removed from them.
 */
export async function clearOrphanedModels(parts: Parts): Promise<void> {
  const { db, transaction, grants, records } = parts;
  const rows = await db.selectFrom("model").select("id").where(isOrphan()).execute();
  if (rows.length === 0) {
    return;
  }
  const ids = rows.map(({ id }) => id);
  await transaction(async (tx) => {
    const kept = await tx
      .updateTable("model")
      .set({ user_id: "", updated_at: seconds() })
      .where("id", "in", ids)
      .where(isOrphan())
      .where((eb) => eb.or([eb("base_model_id", "is", null), isShared()]))
      .returning("id")
      .execute();
    const left = new Set(kept.map(({ id }) => id));
    const gone = ids.filter((id) => !left.has(id));
    const orphans = await tx
      .selectFrom("model")
      .select("id")
      .where("id", "in", [...gone, ""])
      .where(isOrphan())
      .execute();
    const removed = await deleteRows(
      tx,
      orphans.map(({ id }) => id),
    );
    await grants.forget(tx, resourceType, removed);
  });
  await records.refresh();
  await dropLostFiles(parts, ids);
}

/** True in SQL for rows whose owner's account does not exist. */
function isOrphan(): Expression<SqlBool> {
  return sql<SqlBool>`model.user_id <> '' and not exists (select 1 from "user" where "user".id = model.user_id)`;
}

function isShared(): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from access_grant as held
    where held.resource_type = ${resourceType} and held.resource_id = model.id)`;
}

/** A file whose owner is gone goes as well, sooner or later; a model that named it could not be exported any more. */
async function dropLostFiles(
  { transaction, records, files, accounts }: Parts,
  ids: readonly string[],
): Promise<void> {
  const saved = await records.fresh();
  const linked = ids.flatMap((id) => linkedFiles(saved.get(id)?.meta ?? {}));
  const owners = await files.owners(linked);
  const living = await accounts.summaries([...owners.values()]);
  const isLost = (file: string) => !living.has(owners.get(file) ?? "");
  if (!linked.some(isLost)) {
    return;
  }
  await transaction(async (tx) => {
    for (const row of await lockRows(tx, ids)) {
      await withoutLost(tx, row, isLost);
    }
    await notifyWith(tx, modelsChannel, {});
  });
  await records.refresh();
}

async function withoutLost(
  tx: ModelDatabase,
  { id, meta }: { id: string; meta: Record<string, unknown> },
  isLost: (file: string) => boolean,
): Promise<void> {
  const lost = (key: string) => linkedFiles({ [key]: meta[key] }).some(isLost);
  const cleared = Object.fromEntries(
    ["background_image_url", "voice_avatar"].filter(lost).map((key) => [key, null]),
  );
  if (Object.keys(cleared).length > 0) {
    await tx
      .updateTable("model")
      .set({ meta: sql`meta || ${toJson(cleared)}` })
      .where("id", "=", id)
      .execute();
  }
}
