import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";

const Message = z.looseObject({
  role: z.string().min(1),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()]).optional(),
});

/** `temperature`, `top_p`, `max_tokens` and all else are accepted and have no effect (document 2, Limits 1). */
export const GatewayRequest = z.looseObject({
  model: z.string().min(1).max(1024),
  messages: z.array(Message).min(1, "must not be empty"),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
});

export type GatewayRequest = z.output<typeof GatewayRequest>;
export type GatewayMessage = z.output<typeof Message>;

/** The names under which the caller knows what it sends. */
export interface CallerIds {
  readonly chat: string | undefined;
  /** The reply that is asked for. */
  readonly message: string | undefined;
  readonly userMessage: string | undefined;
  readonly userMessageParent: string | undefined;
  /** What the request is for, other than a task of the agent. */
  readonly task: string | undefined;
}

const longestId = 200;

/** Reads X-Chat-Id and the X-Service headers. A placeholder that the caller did not fill in counts as not sent. */
export function readCallerIds(headers: IncomingHttpHeaders): CallerIds {
  const read = (name: string): string | undefined => {
    const given = headers[name];
    const value = (Array.isArray(given) ? given[0] : given)?.trim();
    if (value === undefined || value === "" || /^\{\{.*\}\}$/.test(value)) {
      return undefined;
    }
    if (value.length > longestId) {
      throw new AppError("invalid", `${name}: at most ${longestId} characters.`);
    }
    return value;
  };
  return {
    chat: read("x-chat-id") ?? read("x-service-chat-id"),
    message: read("x-service-message-id"),
    userMessage: read("x-service-user-message-id"),
    userMessageParent: read("x-service-user-message-parent-id"),
    task: read("x-service-task"),
  };
}

/** The conversation in its parts: what the caller tells the model, what was said, and the question. */
export interface Conversation {
  readonly system: GatewayMessage | undefined;
  /** Turns of people and models before the question. */
  readonly earlier: readonly (GatewayMessage & { readonly role: "user" | "assistant" })[];
  readonly question: GatewayMessage;
}

/** Throws `invalid` for messages without a question. */
export function toConversation(messages: readonly GatewayMessage[]): Conversation {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const question = messages[last];
  const isEmpty = question === undefined || question.content === "" || question.content?.length === 0;
  if (question === undefined || isEmpty || !question.content) {
    throw new AppError("invalid", "messages: there is no message of the role user with content.");
  }
  const isTurn = (message: GatewayMessage): message is Conversation["earlier"][number] =>
    (message.role === "user" || message.role === "assistant") && Boolean(message.content);
  const system = messages.find(({ role }) => role === "system" || role === "developer");
  return {
    system: system && { ...system, role: "system" },
    earlier: messages.slice(0, last).filter(isTurn),
    question,
  };
}
