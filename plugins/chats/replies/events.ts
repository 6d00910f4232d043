import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { type MessageEvent, requireSize, toKept } from "./message-events.ts";
import { announce, type ChatParts } from "../parts.ts";
import type { Replies } from "./service-types.ts";

export type MessageEvents = ReturnType<typeof createMessageEvents>;

/** Types that ask a client for something and wait for its answer: nobody would take it here, and some run code. */
const calls = new Set([
  "confirmation",
  "input",
  "execute",
  "execute:tool",
  "execute:python",
  "request:chat:completion",
]);

/** Events about messages that others send: to the owner's open clients, and into the chat (contract §3.4). */
export function createMessageEvents(
  { db, chats, events }: Pick<ChatParts, "db" | "chats" | "events">,
  { hub, keeper }: { hub: Pick<Hub, "emit">; keeper: Pick<Replies, "applyEvent"> },
) {
  return {
    /**
     * Sends an event and stores what it leaves behind. Resolves to false when its kind is stored but this one was not:
     * an administrator sent it (contract D.16), or a run is writing the text. Throws `not_found` for what the caller
     * may not see, `invalid` for data that the type does not have.
     */
    async send(
      caller: Principal,
      { id, message_id: messageId }: { id: string; message_id: string },
      event: MessageEvent,
    ): Promise<boolean> {
      const chat = await chats.load(caller, id, "read");
      // Readers of a shared folder see its chats, and change nothing.
      if (chat.user_id !== caller.userId && caller.role !== "admin") {
        throw new AppError("forbidden", "You may read this but not change it.");
      }
      await requireMessage(db, id, messageId);
      if (calls.has(event.type)) {
        throw new AppError("invalid", `${event.type} waits for an answer and cannot be sent as an event.`);
      }
      requireSize(event);
      const isKept = toKept(event) !== undefined;
      const stored =
        isKept && chat.user_id === caller.userId
          ? await keeper.applyEvent(caller, { chatId: id, messageId }, event)
          : false;
      const envelope = toEnvelope({ type: event.type, data: event.data }, { chatId: id, messageId });
      hub.emit(toRoom("user", chat.user_id), "events", envelope);
      const data = { message_id: messageId, type: event.type };
      announce(events, "message.event_received", { by: caller, id, data });
      return stored || !isKept;
    },
  };
}

async function requireMessage(db: ChatParts["db"], chatId: string, id: string): Promise<void> {
  const row = await db
    .selectFrom("chat_message")
    .select("id")
    .where("chat_id", "=", chatId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
}
