import { randomUUID } from "node:crypto";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { UserEvent, UserEvents } from "#plugins/functions/service.ts";

/** A page that shows a chat, perhaps after a reload. */
const Shown = z.object({ userId: z.string(), chatId: z.string(), sessionId: z.string() });
type Shown = z.output<typeof Shown>;

export interface OpenQuestions {
  /** Asks a page what is open in its chat, on whichever replica the function runs that asked. */
  askAgain(shown: Shown): Promise<void>;
}

const topic = "user-events.shown";
/** A question of a chat waits this long for a page to come back; one of no chat ends with its page. */
const longestAbsenceMs = 300_000;

/** The way from user functions to the clients of the person they run for. */
export function createUserEvents(hub: Hub): UserEvents & OpenQuestions {
  const open = new Set<{ readonly place: Omit<Shown, "sessionId">; ask(sessionId: string): void }>();

  function askHere({ userId, chatId, sessionId }: Shown): void {
    for (const { place, ask } of open) {
      if (place.userId === userId && place.chatId === chatId) {
        ask(sessionId);
      }
    }
  }
  hub.contribute(topic, (given) => {
    const shown = Shown.safeParse(given).data;
    if (shown) {
      askHere(shown);
    }
    return null;
  });

  return {
    emit: ({ userId }, event) => hub.emit(toRoom("user", userId), "events", toPayload(event)),
    askAgain: async (shown) => void (await hub.find(topic, shown)),

    async ask({ userId }, sessionId, question, signal) {
      const payload = toPayload(withId(question));
      const { chat_id: chatId } = question;
      const answer = Promise.withResolvers<unknown>();
      const pages = new Set<string>();
      let absence: NodeJS.Timeout | undefined;
      const ask = (page: string): void => {
        if (pages.has(page)) {
          return;
        }
        pages.add(page);
        clearTimeout(absence);
        hub
          .ask({ userId, sessionId: page, event: "events", payload }, { signal })
          .then(answer.resolve, (error) => {
            pages.delete(page);
            if (chatId === null || !(error instanceof AppError && error.code === "unavailable")) {
              answer.reject(error);
            } else if (pages.size === 0) {
              absence = setTimeout(() => answer.reject(error), longestAbsenceMs);
            }
          });
      };
      const abort = () => answer.reject(signal?.reason);
      const entry = chatId === null ? undefined : { place: { userId, chatId }, ask };
      signal?.addEventListener("abort", abort, { once: true });
      if (entry) {
        open.add(entry);
      }
      try {
        ask(sessionId);
        return await answer.promise;
      } finally {
        clearTimeout(absence);
        signal?.removeEventListener("abort", abort);
        if (entry) {
          open.delete(entry);
        }
      }
    },
  };
}

/** A page that is asked again shows the question once. */
function withId({ data, ...place }: UserEvent): UserEvent {
  const given = typeof data.data === "object" && data.data !== null ? data.data : {};
  return { ...place, data: { ...data, data: { ...given, question_id: randomUUID() } } };
}

function toPayload({ chat_id, message_id, data }: UserEvent) {
  return toEnvelope(data, { chatId: chat_id ?? undefined, messageId: message_id ?? undefined });
}
