import type { ExportedChat, ExportedMessage } from "./exported.ts";

/** One conversation of the `conversations.json` of Claude: its messages in their order. */
export interface Thread {
  readonly name?: string | null;
  readonly created_at?: string;
  readonly updated_at?: string;
  readonly chat_messages: readonly ThreadMessage[];
}

interface ThreadMessage {
  readonly uuid?: string;
  readonly sender?: string;
  readonly text?: unknown;
  readonly content?: unknown;
  readonly created_at?: string;
}

export function isThread(value: unknown): value is Thread {
  return Array.isArray((value as { chat_messages?: unknown } | null)?.chat_messages);
}

/** The conversation as a chat. Thoughts, calls of tools and attachments are left out: the file holds texts. */
export function toThreadChat(thread: Thread): ExportedChat {
  const messages: Record<string, ExportedMessage> = {};
  let last: (ExportedMessage & { childrenIds: string[] }) | undefined;
  for (const [index, message] of thread.chat_messages.entries()) {
    const id = message?.uuid || `message-${index + 1}`;
    const text = textOf(message);
    if (text === "" || messages[id]) {
      continue;
    }
    const time = seconds(message.created_at);
    const kept = {
      id,
      parentId: last?.id ?? null,
      childrenIds: [],
      role: message.sender === "assistant" ? "assistant" : "user",
      content: text,
      ...(time === undefined ? {} : { timestamp: time }),
      ...(message.sender === "assistant" ? { done: true } : {}),
    };
    last?.childrenIds.push(id);
    messages[id] = kept;
    last = kept;
  }
  const title = thread.name?.trim() || "Chat";
  const [made, changed] = [seconds(thread.created_at), seconds(thread.updated_at)];
  return {
    title,
    chat: { title, models: [], history: { currentId: last?.id ?? null, messages } },
    ...(made === undefined ? {} : { created_at: made }),
    ...(changed === undefined ? {} : { updated_at: changed }),
  };
}

function textOf({ text, content }: ThreadMessage): string {
  if (typeof text === "string" && text !== "") {
    return text;
  }
  const blocks = Array.isArray(content) ? (content as ({ type?: unknown; text?: unknown } | null)[]) : [];
  return blocks
    .flatMap((block) => (block?.type === "text" && typeof block.text === "string" ? [block.text] : []))
    .join("\n\n");
}

function seconds(time: string | undefined): number | undefined {
  const read = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(read) ? undefined : Math.floor(read / 1000);
}
