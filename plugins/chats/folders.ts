import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ChatParts } from "./parts.ts";

type Parts = Pick<ChatParts, "folders">;

interface Wish {
  readonly id: string;
  readonly action: "read" | "write";
}

/** Throws `not_found` for a folder that the caller cannot read, or cannot put chats into. */
export async function requireFolder(parts: Parts, caller: Principal, wish: Wish): Promise<void> {
  if (!(await isReachable(parts, caller, wish))) {
    throw new AppError("not_found", "Folder not found");
  }
}

/** Facts of an imported chat: a folder of another installation means nothing here. */
export async function withKnownFolder<T extends { readonly folder_id?: string | null }>(
  parts: Parts,
  caller: Principal,
  facts: T,
): Promise<T> {
  const { folder_id: id } = facts;
  return !id || (await isReachable(parts, caller, { id, action: "write" }))
    ? facts
    : { ...facts, folder_id: null };
}

async function isReachable({ folders }: Parts, caller: Principal, { id, action }: Wish): Promise<boolean> {
  for (const one of folders.list()) {
    if (await one.isReachable(caller, id, action)) {
      return true;
    }
  }
  return false;
}
