import { AppError } from "#kernel/errors.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { ContextItems } from "#plugins/completions/service.ts";
import type { Retrieval } from "#plugins/retrieval/service.ts";
import { type Expanding, isReadableFolder } from "./expand.ts";
import { type Item, itemTypes, toWanted, type Wanted } from "./items.ts";

export interface AdmitParts extends Expanding {
  readonly chats: Pick<Chats, "require">;
  readonly retrieval: Retrieval | undefined;
}

/** Refuses items that are unknown or that the caller may not read, before anything is written (contract D.37). */
export function createContextItems(parts: AdmitParts): ContextItems {
  return {
    types: itemTypes,
    missing: (item) => toMissing(item as Item),
    async require(principal, items) {
      const wanted = (items as readonly Item[]).map(toWanted);
      const collections = [
        ...new Set(wanted.flatMap((one) => (one.kind === "collections" ? one.names : []))),
      ];
      if (collections.length > 0) {
        if (parts.retrieval === undefined) {
          throw new AppError("not_found", "Collection not found");
        }
        await parts.retrieval.scope(principal, { collections });
      }
      await Promise.all(wanted.map((one) => requireOne(one, principal, parts)));
    },
  };
}

/** Searches of the web may have found nothing, and a text may be empty. */
function toMissing(item: Item): string | undefined {
  if (item.type === "web_search" || "content" in item || toWanted(item).kind !== "empty") {
    return undefined;
  }
  return item.type === "url" ? "url" : item.type === "text" ? "content" : "id";
}

async function requireOne(
  wanted: Wanted,
  principal: Parameters<ContextItems["require"]>[0],
  parts: AdmitParts,
): Promise<void> {
  if (wanted.kind === "chat") {
    await parts.chats.require(principal, wanted.id);
  }
  if (wanted.kind === "folder" && !(await isReadableFolder(principal, wanted.id, parts))) {
    throw new AppError("not_found", "Folder not found");
  }
  if (wanted.kind === "page" && !URL.canParse(wanted.url)) {
    throw new AppError("invalid", "files: the address of a page is none.");
  }
}
