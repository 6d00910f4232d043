import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { UserEvent, UserEvents } from "#plugins/functions/service.ts";

/** The way from user functions to the clients of the person they run for. */
export function createUserEvents(hub: Hub): UserEvents {
  return {
    emit: ({ userId }, event) => hub.emit(toRoom("user", userId), "events", toPayload(event)),
    ask: ({ userId }, sessionId, question, signal) =>
      hub.ask({ userId, sessionId, event: "events", payload: toPayload(question) }, { signal }),
  };
}

function toPayload({ chat_id, message_id, data }: UserEvent) {
  return toEnvelope(data, { chatId: chat_id ?? undefined, messageId: message_id ?? undefined });
}
