import { AppError } from "#kernel/errors.ts";
import type { HostFunction, Json } from "#kernel/sandbox.ts";
import type { Replies } from "#plugins/chats/service.ts";
import { type HostCall, requirePerson, toBag } from "./host-call.ts";
import type { UserEvent, UserEvents } from "./user-events.ts";

export interface EventParts {
  /** Ways to the caller's open clients; none while no plugin holds sockets. */
  userEvents(): readonly UserEvents[];
  /** Where events leave something behind; undefined while no plugin stores chats. */
  readonly replies: Pick<Replies, "applyEvent"> | undefined;
}

/** Types that a client is asked with and answers; some of them run code there. */
const questions = new Set([
  "confirmation",
  "input",
  "execute",
  "execute:tool",
  "execute:python",
  "request:chat:completion",
]);
const asked = new Set(["confirmation", "input"]);
/** Events may carry pictures; questions are read by people. */
const maxMegabytes = { emit: 16, ask: 1 } as const;

/** `host.emit` and `host.ask` of one call. */
export function toEventFunctions(parts: EventParts, call: HostCall): Record<"ask" | "emit", HostFunction> {
  const { userEvents } = parts;
  // Code need not wait for one event before it sends the next; all the same they are stored and shown in its order.
  let last: Promise<unknown> = Promise.resolve();
  return {
    emit: async (given) => {
      const event = toEvent(call, given, maxMegabytes.emit);
      if (questions.has(event.data.type)) {
        throw new AppError(
          "invalid",
          `${event.data.type} waits for an answer and cannot be sent as an event.`,
        );
      }
      const sent = last.then(() => emit(parts, call, event));
      last = sent.catch(() => undefined);
      await sent;
      return undefined;
    },
    ask: async (given) => {
      const question = toEvent(call, given, maxMegabytes.ask);
      if (!asked.has(question.data.type)) {
        throw new AppError("invalid", "host.ask takes the types confirmation and input.");
      }
      const principal = requirePerson(call);
      const [way] = userEvents();
      if (way === undefined || call.sessionId === undefined) {
        throw new AppError("unavailable", "Nobody can be asked: the call came without an open client.");
      }
      return (await way.ask(principal, call.sessionId, question, call.signal)) as Json | undefined;
    },
  };
}

/** Stores what the event leaves behind, where the call belongs to a stored message of the caller's, and shows it. */
async function emit({ userEvents, replies }: EventParts, call: HostCall, event: UserEvent): Promise<void> {
  const principal = requirePerson(call);
  const { chatId, messageId } = call;
  if (replies !== undefined && chatId !== undefined && messageId !== undefined) {
    await replies.applyEvent(principal, { chatId, messageId }, event.data);
  }
  userEvents().forEach((way) => way.emit(principal, event));
}

function toEvent(call: HostCall, given: Json | undefined, megabytes: number): UserEvent {
  const { type, data, ...rest } = toBag(given);
  if (typeof type !== "string" || type === "") {
    throw new AppError("invalid", "An event needs a type.");
  }
  if (Buffer.byteLength(JSON.stringify(given)) > megabytes * 2 ** 20) {
    throw new AppError("too_large", `An event has ${megabytes} MB at most.`);
  }
  return {
    chat_id: call.chatId ?? null,
    message_id: call.messageId ?? null,
    data: { type, data: data ?? rest },
  };
}
