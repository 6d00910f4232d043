import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { granted, type GrantInput, type GrantRow } from "#storage/grants.ts";
import { sql } from "kysely";
import type { ListedChat } from "#plugins/chats/service.ts";
import { loadOwn } from "./folders.ts";
import { announce, type FolderParts, resourceType } from "./parts.ts";
import { show, type ShownFolder } from "./view.ts";

export type FolderSharing = ReturnType<typeof createFolderSharing>;

/** Folders that others may read. A grant is for one folder: those inside it are shared by themselves. */
export function createFolderSharing(parts: FolderParts) {
  const { db, transaction, grants, events, folders, chats } = parts;

  return {
    /**
     * Says who may read or change the folder. What the caller may not give is left out (contract §0), and so is
     * everybody at once: folders are never public. Throws `forbidden` for new grants without sharing.folders.
     */
    async share(caller: Principal, id: string, wanted: readonly GrantInput[]): Promise<ShownFolder> {
      const row = await loadOwn(parts, caller, id);
      const held = await grants.list(resourceType, [id]);
      requireSharing(caller, wanted, held);
      const allowed = await parts.accounts.givenGrants(caller, { wanted, held });
      await transaction((tx) => grants.replace(tx, resourceType, id, allowed));
      announce(events, "folder.access_updated", { by: caller, id, data: { access_grants: allowed } });
      return await show(parts, caller, row);
    },

    /** Folders of others that the caller may read. */
    async shared(caller: Principal) {
      const rows = await db
        .selectFrom("folder")
        .select(["id", "user_id", "name", "meta", "parent_id", "created_at", "updated_at"])
        .where("user_id", "<>", caller.userId)
        .where((eb) => granted(eb, resourceType, "folder.id", caller, "read"))
        .orderBy(sql`lower(name)`)
        .orderBy("id")
        .execute();
      const ids = new Set(rows.map(({ id }) => id));
      const [writable, owners] = await Promise.all([
        grants.allowed(caller, "write", resourceType, [...ids]),
        parts.accounts.summaries(rows.map(({ user_id }) => user_id)),
      ]);
      return rows.map((row) => ({
        ...row,
        // Where it lies is told as far as that is shared, too.
        parent_id: row.parent_id !== null && ids.has(row.parent_id) ? row.parent_id : null,
        user: owners.get(row.user_id) ?? null,
        write_access: writable.has(row.id),
      }));
    },

    /** The chats in a folder that the caller may read. When their owner last looked at them stays with the owner. */
    async sharedChats(caller: Principal, id: string, page: number | undefined): Promise<ListedChat[]> {
      const row = await folders.load(caller, id, "read");
      const rows = await chats.titles(row, page);
      return row.user_id === caller.userId ? rows : rows.map((chat) => ({ ...chat, last_read_at: null }));
    },
  };
}

/** Grants that stand may stay, whatever the caller may grant now. */
function requireSharing(caller: Principal, wanted: readonly GrantInput[], held: readonly GrantRow[]): void {
  const kept = new Set(held.map(keyOf));
  if (wanted.some((grant) => !kept.has(keyOf(grant))) && !hasPermission(caller, "sharing.folders")) {
    throw new AppError("forbidden", "You may not share folders.");
  }
}

function keyOf({ principal_type: type, principal_id: id, permission }: GrantInput): string {
  return [type, permission, id].join(" ");
}
