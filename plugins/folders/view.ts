import type { Principal } from "#kernel/access/principal.ts";
import type { GrantRow } from "#storage/grants.ts";
import type { AccountSummary } from "#plugins/accounts/service.ts";
import { readableKnowledge } from "./knowledge.ts";
import { type FolderParts, resourceType } from "./parts.ts";
import type { FolderRow } from "./store.ts";

/** A folder as somebody may see it. */
export interface ShownFolder extends FolderRow {
  readonly unread_count: number;
  readonly write_access: boolean;
  /** Its owner. */
  readonly user: AccountSummary | null;
  /** For the owner only. */
  readonly access_grants?: GrantRow[];
}

/**
 * The record for a caller who may read it. Others than the owner learn nothing of where the owner keeps it and how
 * much of it is unread, and only those who may change the folder read its prompt (compare promise S53).
 */
export async function show(parts: FolderParts, caller: Principal, row: FolderRow): Promise<ShownFolder> {
  const isOwn = row.user_id === caller.userId;
  const { system_prompt: prompt, ...rest } = row.data;
  const [unread, granted, writable, owners, files] = await Promise.all([
    isOwn ? parts.chats.unread([row.id]) : new Map<string, number>(),
    isOwn ? parts.grants.list(resourceType, [row.id]) : [],
    isOwn ? new Set([row.id]) : parts.grants.allowed(caller, "write", resourceType, [row.id]),
    parts.accounts.summaries([row.user_id]),
    readableKnowledge(parts, caller, row),
  ]);
  const canWrite = writable.has(row.id);
  return {
    ...row,
    ...(isOwn ? {} : { parent_id: null, is_expanded: false }),
    data: {
      ...(canWrite && prompt !== undefined ? { system_prompt: prompt } : {}),
      ...rest,
      ...(rest["files"] === undefined ? {} : { files }),
    },
    unread_count: unread.get(row.id) ?? 0,
    write_access: canWrite,
    user: owners.get(row.user_id) ?? null,
    ...(isOwn ? { access_grants: granted } : {}),
  };
}
