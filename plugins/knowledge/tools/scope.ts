import { isObject, toList } from "#config/json-values.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ToolRun } from "#kernel/tools/tool.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { FileRecord } from "#plugins/files/service.ts";
import type { Folders } from "#plugins/folders/service.ts";
import type { Models } from "#plugins/models/service.ts";
import { existingCollections, findCollection } from "../collections/collection-store.ts";
import type { Listing } from "../collections/listing.ts";
import type { KnowledgeParts } from "../parts.ts";
import type { CollectionRow } from "../tables.ts";

export interface ScopeParts {
  readonly parts: KnowledgeParts;
  readonly listing: Listing;
  readonly models: Pick<Models, "resolve">;
  readonly folders: Folders | undefined;
  readonly chats: Pick<Chats, "require"> | undefined;
}

/** What the tools of one call may look into. */
export interface KnowledgeScope {
  readonly collections: readonly CollectionRow[];
  /** Single files that a model or a folder brings along, without their texts. */
  readonly files: readonly FileRecord[];
}

interface Item {
  readonly type: string;
  readonly id: string;
}

/** Collections that a model looks through at once. */
export const maxCollections = 200;

/**
 * What the model and the folder of a run bring along, as it stands now: access is asked anew at every call. A model
 * lends its knowledge to everybody who may use it, and a folder to everybody who may read it.
 */
export async function findAttached(
  scope: ScopeParts,
  principal: Principal,
  run: ToolRun,
): Promise<KnowledgeScope> {
  const lent = toItems(await readModelKnowledge(scope, principal, run));
  const folder = toItems(await readFolderKnowledge(scope, principal, run));
  const { parts, listing } = scope;
  const idsOf = (items: readonly Item[], type: string) =>
    items.filter((item) => item.type === type).map(({ id }) => id);
  const [own, known] = await Promise.all([
    listing.among(principal, idsOf(folder, "collection")),
    existingCollections(parts.db, idsOf(lent, "collection")),
  ]);
  const missing = known.filter((id) => !own.some((row) => row.id === id));
  const rows = await Promise.all(missing.map((id) => findCollection(parts.db, id)));
  return {
    collections: [...own, ...rows.filter((row) => row !== undefined)].slice(0, maxCollections),
    files: await parts.files.list([...new Set([...idsOf(lent, "file"), ...idsOf(folder, "file")])]),
  };
}

/** The collections that the caller may read, for models without knowledge of their own. */
export async function findReadable({ listing }: ScopeParts, principal: Principal): Promise<KnowledgeScope> {
  return { collections: await listing.all(principal, maxCollections), files: [] };
}

/** Asked of the server's own record: what a client says about a model lends nothing. */
async function readModelKnowledge(
  { models }: ScopeParts,
  principal: Principal,
  { model }: ToolRun,
): Promise<unknown> {
  if (toList(model.meta["knowledge"]).length === 0) {
    return [];
  }
  return await unlessGone(async () => (await models.resolve(principal, model.id)).meta["knowledge"]);
}

async function readFolderKnowledge(
  { folders, chats }: ScopeParts,
  principal: Principal,
  { chatId, isSaved, request }: ToolRun,
): Promise<unknown> {
  if (folders === undefined) {
    return [];
  }
  const named = request["folder_id"];
  const folderId =
    chats !== undefined && isSaved && chatId !== undefined
      ? await unlessGone(async () => (await chats.require(principal, chatId)).folder_id)
      : named;
  return typeof folderId === "string" ? await folders.knowledge(principal, folderId) : [];
}

async function unlessGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") {
      return undefined;
    }
    throw error;
  }
}

function toItems(value: unknown): Item[] {
  return toList(value).flatMap((item) => {
    const { id, type = "collection" } = isObject(item) ? item : {};
    return typeof id === "string" && typeof type === "string" ? [{ id, type }] : [];
  });
}
