import type { Hook } from "../functions.ts";

const question = "Hello, I am Ada. Write to ada@example.org or call +49 170 1234567.";
const chunk = (content: string, finish: string | null = null) => ({
  id: "chatcmpl-sample",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: finish === null ? { content } : {}, finish_reason: finish }],
});

/** What a hook is given while nothing else was typed. */
export function sampleBody(hook: Hook): unknown {
  const messages = [{ role: "user", content: question }];
  switch (hook) {
    case "stream":
      return [chunk("I will write to "), chunk("[EMAIL_1]"), chunk(" today."), chunk("", "stop")];
    case "outlet":
      return {
        model: "sample",
        messages: [
          { id: "q", role: "user", content: question },
          { id: "a", role: "assistant", content: "I will write to [EMAIL_1] today." },
        ],
        chat_id: "sample",
        session_id: "sample",
        id: "a",
      };
    case "event":
      return { event: "user.signed_in", id: "sample", data: { id: "sample" } };
    case "pipes":
      return {};
    case "action":
      return { model: "sample", messages: [...messages, { role: "assistant", content: "Good day, Ada." }] };
    default:
      return { model: "sample", stream: true, messages };
  }
}

/** A message of a stored chat, as far as it matters here. */
export interface StoredMessage {
  readonly id: string;
  readonly parentId?: string | null;
  readonly role: string;
  readonly content?: unknown;
  readonly model?: string;
  readonly timestamp?: number;
}

/** The branch of a chat that ends with a message. */
export function toBranch(
  messages: Readonly<Record<string, StoredMessage>>,
  last: string,
): readonly StoredMessage[] {
  const branch: StoredMessage[] = [];
  let at: string | null | undefined = last;
  while (at && messages[at] && branch.length < 2_000) {
    const message = messages[at] as StoredMessage;
    branch.unshift(message);
    at = message.parentId;
  }
  return branch;
}

/** What a hook would be given for the last turn of a branch: its question, or its question and reply. */
export function toTurn(hook: Hook, branch: readonly StoredMessage[], chatId: string): unknown {
  const reply = branch.findLast(({ role }) => role === "assistant");
  const model = reply?.model ?? "sample";
  if (hook === "stream") {
    const text = typeof reply?.content === "string" ? reply.content : "";
    const pieces = text.match(/[^]{1,24}/g) ?? [];
    return [...pieces.slice(0, 200).map((piece) => chunk(piece)), chunk("", "stop")];
  }
  const isWhole = hook === "outlet" || hook === "action";
  const end = isWhole ? branch.length : branch.findLastIndex(({ role }) => role === "user") + 1;
  const messages = branch
    .slice(0, end)
    .map(({ id, role, content, timestamp }) =>
      isWhole ? { id, role, content, timestamp } : { role, content },
    );
  return isWhole
    ? { model, messages, chat_id: chatId, id: reply?.id ?? null }
    : { model, stream: true, messages };
}
