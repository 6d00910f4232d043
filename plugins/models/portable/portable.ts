import type { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { granted } from "#storage/grants.ts";
import type { FileRecord } from "#plugins/files/service.ts";
import { loadBackground, toDataUri } from "../pictures/backgrounds.ts";
import { type ModelParts, resourceType } from "../parts.ts";
import { findWritable } from "../records/rights.ts";
import type { PortableModel } from "../schema.ts";
import { findPicture, findRows, type ModelRow, selectRows } from "../records/store.ts";
import { toModel } from "../records/wire.ts";

/** One record as export writes it and import reads it. */
export type Portable = z.output<typeof PortableModel>;

/**
 * Records as a JSON text, one after another, so that no export has to fit into memory with all its pictures. Without
 * ids all that the caller may change. Throws, before the text begins, `forbidden` for a record the caller may not
 * change (Core API, Models), `not_found` and, for a missing background, `invalid`.
 */
export async function exportModels(
  parts: ModelParts,
  caller: Principal,
  ids: readonly string[] | undefined,
): Promise<AsyncIterable<string>> {
  const rows = await chooseRows(parts, caller, ids);
  const backgrounds = new Map<string, FileRecord>();
  for (const row of rows) {
    const file = await loadBackground(parts, caller, row);
    if (file) {
      requireExportable(file, row.id);
      backgrounds.set(row.id, file);
    }
  }
  return toJson(parts, rows, backgrounds);
}

async function chooseRows(
  parts: ModelParts,
  caller: Principal,
  ids: readonly string[] | undefined,
): Promise<ModelRow[]> {
  const { db, access } = parts;
  if (ids === undefined) {
    return await selectRows(db)
      .$if(!access.passes(caller), (query) =>
        query.where((eb) =>
          eb.or([
            eb("model.user_id", "=", caller.userId),
            granted(eb, resourceType, "model.id", caller, "write"),
          ]),
        ),
      )
      .orderBy("model.id")
      .execute();
  }
  const wanted = [...new Set(ids)];
  const found = new Map((await findRows(db, wanted)).map((row) => [row.id, row]));
  const writable = await findWritable(parts, caller, [...found.values()]);
  // To those who may not write it, a record that does not exist is one they may not write.
  if (wanted.some((id) => !writable.has(id) && (found.has(id) || !access.passes(caller)))) {
    throw new AppError("forbidden", "You may export only models that you may change.");
  }
  if (found.size < wanted.length) {
    throw new AppError("not_found", "Model not found");
  }
  return wanted.map((id) => found.get(id) as ModelRow);
}

async function* toJson(
  parts: ModelParts,
  rows: readonly ModelRow[],
  backgrounds: ReadonlyMap<string, FileRecord>,
): AsyncGenerator<string> {
  const ids = rows.map(({ id }) => id);
  const grants = Map.groupBy(await parts.grants.list(resourceType, ids), (grant) => grant.resource_id);
  yield "[";
  for (const [at, row] of rows.entries()) {
    const model = toModel(row, grants.get(row.id) ?? []);
    const file = backgrounds.get(row.id);
    const picture = row.picture?.startsWith("data:") ? await findPicture(parts.db, row.id) : row.picture;
    const meta = {
      ...model.meta,
      ...(picture === null ? {} : { profile_image_url: picture }),
      ...(file ? { background_image_url: null } : {}),
    };
    const data = file && (await toDataUri(parts, file, row.id));
    yield `${at === 0 ? "" : ","}${JSON.stringify({ ...model, meta, ...(data ? { background_image_data: data } : {}) })}`;
  }
  yield "]";
}

/** Said before the answer begins; the bytes are held against it when they are read. */
function requireExportable(file: FileRecord, modelId: string): void {
  const type = String(file.meta["content_type"] ?? "");
  const size = Number(file.meta["size"] ?? 0);
  if (!/^image\/(png|jpe?g|webp|gif)$/.test(type) || size > 5 * 1024 * 1024) {
    throw new AppError(
      "invalid",
      `The background image of the model "${modelId}" must be a PNG, JPEG, WebP or GIF image of at most 5 MiB to be exported.`,
    );
  }
}
