import { isObject, toList } from "#config/json-values.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Models } from "#plugins/models/service.ts";
import { findNote } from "./library/note-store.ts";
import type { NoteParts } from "./parts.ts";
import type { NoteRow } from "./tables.ts";

/** Notes that one model or request brings along. */
const most = 50;

/** Ids of the notes among items of `files` or of a model's knowledge. */
export function noteIds(items: unknown): string[] {
  const ids = toList(items).flatMap((item) =>
    isObject(item) && item["type"] === "note" && typeof item["id"] === "string" ? [item["id"]] : [],
  );
  return [...new Set(ids)].slice(0, most);
}

/**
 * The notes that a model brings along: it lends them to everybody who may use it. Asked of the server's own record,
 * since what a client says about a model lends nothing; and the one who attached them had to be able to read them.
 */
export async function lentNotes(
  { db, models }: Pick<NoteParts, "db"> & { readonly models: Pick<Models, "resolve"> },
  principal: Principal,
  model: { readonly id: string; readonly meta: Readonly<Record<string, unknown>> },
): Promise<NoteRow[]> {
  if (noteIds(model.meta["knowledge"]).length === 0) {
    return [];
  }
  try {
    const own = await models.resolve(principal, model.id);
    const rows = await Promise.all(noteIds(own.meta["knowledge"]).map((id) => findNote(db, id)));
    return rows.filter((row) => row !== undefined);
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") {
      return [];
    }
    throw error;
  }
}
