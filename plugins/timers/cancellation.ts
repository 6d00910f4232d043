import { chatsRead } from "#plugins/chats/service.ts";
import { personAsked, type AskedMessage } from "#plugins/runs/service.ts";
import { show, type TimerParts } from "./parts.ts";

/** Cancels timers when their chat is read, answered, or loses the message that set them (contract §9). */
export function followChats(parts: TimerParts): void {
  const { events, store, continuation } = parts;

  events.on(chatsRead, async ({ userId, chatIds }) => {
    if (continuation.isOn()) {
      show(await store.cancel({ userId, chatIds, on: "chat.read" }, "chat.read"), parts);
    }
  });

  events.on(personAsked, async (asked) => {
    if (continuation.isOn() && (await isFirstAsked(asked, parts))) {
      const { userId, chatId, messageId } = asked;
      const choice = { userId, chatIds: [chatId], on: "chat.user_message", notAnswering: messageId };
      show(await store.cancel(choice, "chat.user_message"), parts);
    }
  });

  events.on("message.deleted", async ({ subject, data }) => {
    const messageId = (data as { message_id?: unknown } | null)?.message_id;
    if (subject && typeof messageId === "string") {
      show(await store.cancel({ chatIds: [subject.id], messageId }, "person"), parts);
    }
  });
}

/** False where a message is answered once more: the person has said nothing new. */
async function isFirstAsked(
  { chatId, messageId, isNew }: AskedMessage,
  { store, chats }: TimerParts,
): Promise<boolean> {
  if (isNew) {
    return true;
  }
  const waiting = await store.waitingOf({ chat_id: chatId });
  if (!waiting.some(({ cancel_on: on }) => on.includes("chat.user_message"))) {
    return false;
  }
  const { message } = (await chats.message(chatId, messageId)) ?? {};
  return (message?.childrenIds.length ?? 0) <= 1;
}
