import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ChatRow } from "../chat-store.ts";
import type { ChatParts } from "../parts.ts";
import type { ChatFolder } from "../service.ts";

type Parts = Pick<ChatParts, "folders">;

interface Wish {
  readonly id: string;
  readonly action: "read" | "write";
}

/**
 * The folder. Throws `not_found` when the caller may not read it, `forbidden` when it is somebody else's and chats
 * shall be put into it, and while folders are switched off.
 */
export async function requireFolder(
  parts: Parts,
  caller: Principal,
  { id, action }: Wish,
): Promise<ChatFolder> {
  if (parts.folders.list().length > 0 && !usesFolders(parts, caller)) {
    throw new AppError("forbidden", "Folders are switched off, or not permitted to you.");
  }
  const folder = await findFolder(parts, caller, id);
  if (folder === undefined) {
    throw new AppError("not_found", "Folder not found");
  }
  if (action === "write" && folder.user_id !== caller.userId) {
    throw new AppError("forbidden", "Only the owner of a folder puts chats into it.");
  }
  return folder;
}

/** Facts of an imported chat: a folder of another installation means nothing here. */
export async function withKnownFolder<T extends { readonly folder_id?: string | null }>(
  parts: Parts,
  caller: Principal,
  facts: T,
): Promise<T> {
  const { folder_id: id } = facts;
  const folder = id ? await findFolder(parts, caller, id) : undefined;
  return !id || folder?.user_id === caller.userId ? facts : { ...facts, folder_id: null };
}

/** Whether chats that lie in folders are found there; otherwise lists have to show them with all others. */
export function usesFolders({ folders }: Parts, caller: Principal): boolean {
  return folders.list().some((one) => one.isOpen(caller));
}

/** Ids of the caller's folders that a search means by a name or an id. */
export async function foldersNamed({ folders }: Parts, caller: Principal, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const one of folders.list()) {
    found.push(...(await one.named(caller, text)));
  }
  return found;
}

/** Whether a chat may be read through the folder it lies in (contract 7.1); what its owner put away may not. */
export async function isSharedByFolder(
  parts: Parts,
  caller: Principal,
  { folder_id: id, user_id, archived, meta }: Pick<ChatRow, "folder_id" | "user_id" | "archived" | "meta">,
): Promise<boolean> {
  if (id === null || archived || meta["internal"]) {
    return false;
  }
  return (await findFolder(parts, caller, id))?.user_id === user_id;
}

async function findFolder(
  { folders }: Parts,
  caller: Principal,
  id: string,
): Promise<ChatFolder | undefined> {
  for (const one of folders.list()) {
    const folder = await one.find(caller, id);
    if (folder !== undefined) {
      return folder;
    }
  }
  return undefined;
}
