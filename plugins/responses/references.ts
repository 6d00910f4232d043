import { AppError } from "#kernel/errors.ts";
import type { OutputItem } from "./response.ts";
import type { Item, TranslatedRequest } from "./schema.ts";

/**
 * The request with the items themselves where it names them by id. Toolkits do so with what they were answered a moment
 * ago. Throws `invalid`, naming the place, for an item that is not there any more.
 */
export function withKeptItems(
  request: TranslatedRequest,
  find: (id: string) => OutputItem | undefined,
): TranslatedRequest {
  const { input } = request;
  if (typeof input === "string" || !input.some(isReference)) {
    return request;
  }
  return { ...request, input: input.map((item, at) => (isReference(item) ? resolve(item, at, find) : item)) };
}

/** References may come without a type. */
function isReference({ type, role, content, id }: Item): boolean {
  return (
    type === "item_reference" ||
    (type === undefined && role === undefined && content === undefined && typeof id === "string")
  );
}

function resolve({ id }: Item, at: number, find: (id: string) => OutputItem | undefined): Item {
  const item = typeof id === "string" ? find(id) : undefined;
  if (item === undefined) {
    throw new AppError(
      "invalid",
      `input[${at}].id: this item is not kept here. Send the items themselves (store: false).`,
    );
  }
  return item as Item;
}
