import type { Principal } from "#kernel/access/principal.ts";
import { isObject, toList, toObject } from "#config/json-values.ts";
import type { Slot } from "#kernel/service.ts";
import type { ChatFolders } from "#plugins/chats/service.ts";
import type { ContextRun } from "#plugins/completions/service.ts";
import type { Folders } from "#plugins/folders/service.ts";
import { isKnown, type Item, toWanted, type Wanted } from "./items.ts";

export interface Expanding {
  readonly folders: Folders;
  readonly chatFolders: Slot<ChatFolders>;
}

type About = Pick<ContextRun, "request" | "model" | "folderId" | "mode">;

/** False for models that are not given what files say: tools over the chat's files take its place. */
export function readsFiles({ model }: Pick<About, "model">): boolean {
  return toObject(model.meta["capabilities"])["file_context"] !== false;
}

/** Items that the request itself names. */
export function namedItems({ request }: Pick<About, "request">): Item[] {
  return ((request.files ?? []) as Item[]).filter(isKnown);
}

/**
 * Native runs are offered tools over the knowledge of folders and models, unless the model has these tools switched
 * off; the others are given passages of it (contract §3.2, step 5).
 */
export function givesKnowledge({ model, mode }: Pick<About, "model" | "mode">): boolean {
  return mode === "legacy" || toObject(model.meta["builtinTools"])["knowledge"] === false;
}

export function modelKnowledge({ model }: Pick<About, "model">): Item[] {
  return toList(model.meta["knowledge"]).filter(
    (item): item is Item => isObject(item) && typeof item["type"] === "string" && isKnown(item as Item),
  );
}

/**
 * Everything a run is to be given context of, each thing once. Folders are opened; one that may not be read any more is
 * told to `onGone`.
 */
export async function expandItems(
  run: ContextRun,
  parts: Expanding,
  onGone: (wanted: Wanted) => void,
): Promise<Wanted[]> {
  const { principal, folderId } = run;
  const open = async (id: string) =>
    (await parts.folders.knowledge(principal, id)).filter(isKnown).map(toWanted);
  const named = await Promise.all(
    namedItems(run)
      .map(toWanted)
      .map(async (wanted) => {
        if (wanted.kind !== "folder") {
          return [wanted];
        }
        if (!(await isReadableFolder(principal, wanted.id, parts))) {
          onGone(wanted);
          return [];
        }
        return await open(wanted.id);
      }),
  );
  const isLent = givesKnowledge(run);
  const folder = isLent && folderId !== undefined ? await open(folderId) : [];
  const model = isLent ? modelKnowledge(run).map(toWanted) : [];
  return unique([...named.flat(), ...folder, ...model]).filter(({ kind }) => kind !== "folder");
}

export async function isReadableFolder(
  principal: Principal,
  id: string,
  { chatFolders }: Pick<Expanding, "chatFolders">,
): Promise<boolean> {
  const [folders] = chatFolders.list();
  return (
    folders !== undefined && folders.isOpen(principal) && (await folders.find(principal, id)) !== undefined
  );
}

function unique(all: readonly Wanted[]): Wanted[] {
  const seen = new Set<string>();
  return all.filter((wanted) => {
    const key = keyOf(wanted);
    return key === undefined || (!seen.has(key) && seen.add(key));
  });
}

function keyOf(wanted: Wanted): string | undefined {
  switch (wanted.kind) {
    case "file":
    case "chat":
    case "folder":
      return `${wanted.kind} ${wanted.id}`;
    case "collections":
      return `collections ${wanted.names.join(" ")}`;
    case "page":
      return `page ${wanted.url}`;
    default:
      return undefined;
  }
}
