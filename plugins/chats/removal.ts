import type { Principal } from "#kernel/access/principal.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { announce, type ChatParts, sharedType } from "./parts.ts";
import { forgetUnused, tagsOf } from "./tags/tag-store.ts";

export type Removal = ReturnType<typeof createRemoval>;

/** Takes chats away with everything that belongs to them; the database takes messages, links and files along. */
export function createRemoval(
  parts: Pick<ChatParts, "transaction" | "chats" | "events" | "grants">,
  hub: Pick<Hub, "emit">,
) {
  const { transaction, chats, events } = parts;
  /** Other windows of the owner list these chats, and may show one of them. */
  const tell = (userId: string, deleted: readonly string[] | "all") =>
    hub.emit(toRoom("user", userId), "events", toEnvelope({ type: "chat:list", data: { deleted } }));
  return {
    async remove(caller: Principal, id: string): Promise<void> {
      const row = await chats.load(caller, id, "write");
      await transaction(async (tx) => {
        await tx.deleteFrom("chat").where("id", "=", id).execute();
        await parts.grants.forget(tx, sharedType, [id]);
        await forgetUnused(tx, row.user_id, tagsOf(row));
      });
      announce(events, "chat.deleted", { by: caller, id, data: { title: row.title } });
      tell(row.user_id, [id]);
    },

    async removeAll(caller: Principal): Promise<void> {
      await transaction(async (tx) => {
        const rows = await tx
          .deleteFrom("chat")
          .where("user_id", "=", caller.userId)
          .returning("id")
          .execute();
        await tx.deleteFrom("tag").where("user_id", "=", caller.userId).execute();
        await parts.grants.forget(
          tx,
          sharedType,
          rows.map(({ id }) => id),
        );
      });
      announce(events, "chat.deleted_all", { by: caller });
      tell(caller.userId, "all");
    },
  };
}
