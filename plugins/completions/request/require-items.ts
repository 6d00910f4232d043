import { AppError } from "#kernel/errors.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { ContextItems, FileAccess } from "../service.ts";

type Item = NonNullable<CompletionRequest["files"]>[number];

interface Knowing {
  readonly principal: Principal;
  readonly files: readonly FileAccess[];
  readonly known: readonly ContextItems[];
}

/** Kinds of uploads: their `id` is that of a file. Clients of older versions call documents `doc`. */
const fileTypes: ReadonlySet<string> = new Set(["file", "image", "audio", "video", "doc"]);

/**
 * Refuses a request whose `files` name what the caller may not read or what nothing here reads: `not_found` for an item
 * with an id, `invalid` for one without, or for one that names nothing. Contract D.37.
 */
export async function requireItems(
  items: readonly Item[],
  { principal, files, known }: Knowing,
): Promise<void> {
  const strange = items.findIndex(
    ({ type }) => !fileTypes.has(type) && !known.some(({ types }) => types.includes(type)),
  );
  const unknown = items[strange];
  if (unknown !== undefined) {
    throw unknown.id
      ? new AppError("not_found", `files.${strange}: not found`)
      : new AppError(
          "invalid",
          `files.${strange}.type: nothing here reads ${JSON.stringify(unknown.type.slice(0, 50))}.`,
        );
  }
  requireComplete(items, known);
  await requireFiles(items, principal, files);
  await Promise.all(
    known.map(async (kind) => {
      const own = items.filter(({ type }) => kind.types.includes(type));
      if (own.length > 0) {
        await kind.require(principal, own);
      }
    }),
  );
}

function requireComplete(items: readonly Item[], known: readonly ContextItems[]): void {
  for (const [at, item] of items.entries()) {
    const [field] = known.flatMap((kind) => (kind.types.includes(item.type) && kind.missing?.(item)) || []);
    if (field !== undefined) {
      throw new AppError("invalid", `files.${at}.${field}: is missing; the item names nothing to read.`);
    }
  }
}

async function requireFiles(
  items: readonly Item[],
  principal: Principal,
  [access]: readonly FileAccess[],
): Promise<void> {
  const ids = new Set(items.flatMap(({ type, id }) => (id && fileTypes.has(type) ? [id] : [])));
  if (ids.size > 0 && access === undefined) {
    throw new AppError("not_found", "File not found");
  }
  for (const id of ids) {
    await access?.require(principal, id);
  }
}
