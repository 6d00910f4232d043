import { listTitles, type TitleRow, type TitleWish } from "../search/lists.ts";
import { type ChatParts, sharedType } from "../parts.ts";
import type { GrantRow } from "#storage/grants.ts";
import { findShareTimes } from "./share-store.ts";

/** A shared chat of one's own: its link, when it was taken, and who may open it. */
export interface SharedTitleRow extends TitleRow {
  readonly share_id: string;
  readonly shared_at: number;
  readonly access_grants: readonly GrantRow[];
}

/** Titles of an account's shared chats, in order. */
export async function listShared(
  { db, grants }: Pick<ChatParts, "db" | "grants">,
  userId: string,
  wish: TitleWish,
): Promise<SharedTitleRow[]> {
  const rows = await listTitles(db, userId, wish);
  const ids = rows.map(({ id }) => id);
  const [times, given] = await Promise.all([findShareTimes(db, ids), grants.list(sharedType, ids)]);
  const byChat = Map.groupBy(given, (grant) => grant.resource_id);
  return rows.map((row) => ({
    ...row,
    share_id: row.share_id as string,
    shared_at: times.get(row.id) ?? row.updated_at,
    access_grants: byChat.get(row.id) ?? [],
  }));
}
