import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { GrantInput, GrantRow } from "#storage/grants.ts";
import type { ChatRow } from "./chat-store.ts";
import { type ChatParts, sharedType } from "./parts.ts";

export type ShareAccess = ReturnType<typeof createShareAccess>;

/** Who may open the link of a chat. */
export function createShareAccess(parts: Pick<ChatParts, "transaction" | "chats" | "grants" | "accounts">) {
  const { transaction, chats, grants } = parts;
  return {
    async access(caller: Principal, chatId: string) {
      const row = await chats.load(caller, chatId, "write");
      return toAccess(row, await grants.list(sharedType, [chatId]));
    },

    /**
     * Says who may read what is behind the link. What the caller may not give is left out; a grant that cannot be is
     * refused (access grant rule 4).
     */
    async setAccess(caller: Principal, chatId: string, wanted: readonly GrantInput[]) {
      const row = await chats.load(caller, chatId, "write");
      for (const grant of wanted) {
        if (
          grant.principal_type === "anyone" &&
          (grant.principal_id !== "*" || grant.permission !== "read")
        ) {
          throw new AppError(
            "invalid",
            "A grant without sign-in has the principal * and allows reading only.",
          );
        }
      }
      const held = await grants.list(sharedType, [chatId]);
      const allowed = await toStored(caller, wanted, held);
      const stored = await transaction((tx) => grants.replace(tx, sharedType, chatId, allowed));
      return toAccess(row, stored);
    },
  };

  /** Contract §0: what somebody may not give is left out without an error; what is given already stays. */
  async function toStored(caller: Principal, wanted: readonly GrantInput[], held: readonly GrantRow[]) {
    const kept = new Set(held.map(keyOf));
    const allowed = wanted.filter((grant) => kept.has(keyOf(grant)) || mayGive(caller, grant));
    const users = allowed.filter(
      ({ principal_type: type, principal_id: id }) => type === "user" && id !== "*",
    );
    const known = await parts.accounts.summaries(users.map(({ principal_id: id }) => id));
    return allowed.filter((grant) => !users.includes(grant) || known.has(grant.principal_id));
  }
}

function toAccess(row: ChatRow, list: readonly GrantRow[]) {
  return { chat_id: row.id, share_id: row.share_id, access_grants: list };
}

function mayGive(caller: Principal, { principal_type: type, principal_id: id }: GrantInput): boolean {
  if (type === "anyone") {
    return hasPermission(caller, "sharing.open_chats");
  }
  if (type === "group") {
    return hasPermission(caller, "access_grants.allow_groups");
  }
  return hasPermission(caller, id === "*" ? "sharing.public_chats" : "access_grants.allow_users");
}

function keyOf({ principal_type: type, principal_id: id, permission }: GrantInput): string {
  return [type, permission, id].join(" ");
}
