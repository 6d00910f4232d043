import { AppError } from "#kernel/errors.ts";
import type { OutputItem } from "./response.ts";
import type { Item, TranslatedRequest } from "./schema.ts";

/** Ids of the items that a request names instead of sending them. */
export function namedItems({ input }: TranslatedRequest): string[] {
  return typeof input === "string"
    ? []
    : input.filter(isReference).flatMap(({ id }) => (typeof id === "string" ? id : []));
}

/**
 * The request with the items themselves where it names them by id, as toolkits do with items of the last answer. Throws
 * `invalid`, naming the place, for an item that is not stored any more.
 */
export function resolveReferences(
  request: TranslatedRequest,
  stored: ReadonlyMap<string, OutputItem>,
): TranslatedRequest {
  const { input } = request;
  if (typeof input === "string" || !input.some(isReference)) {
    return request;
  }
  return {
    ...request,
    input: input.map((item, at) => (isReference(item) ? resolve(item, at, stored) : item)),
  };
}

/** References may come without a type. */
function isReference({ type, role, content, id }: Item): boolean {
  return (
    type === "item_reference" ||
    (type === undefined && role === undefined && content === undefined && typeof id === "string")
  );
}

function resolve({ id }: Item, at: number, stored: ReadonlyMap<string, OutputItem>): Item {
  const item = typeof id === "string" ? stored.get(id) : undefined;
  if (item === undefined) {
    throw new AppError(
      "invalid",
      `input[${at}].id: this item is not stored here. Send the items themselves (store: false).`,
    );
  }
  return item as Item;
}
