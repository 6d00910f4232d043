import type { ChatMessage, OutputItem, Source, StatusLine } from "./types.ts";

/** One event of a message, as `data` of its envelope has it (contract §3.4, D.18). */
export interface MessageEvent {
  readonly type: string;
  readonly data?: unknown;
}

type Draft = { -readonly [K in keyof ChatMessage]: ChatMessage[K] };
type Bag = Readonly<Record<string, unknown>>;

/**
 * Applies events in their order and returns the message anew. A piece of text is appended to one string, so the work
 * for an event does not grow with the reply.
 */
export function applyEvents(message: ChatMessage, events: readonly MessageEvent[]): ChatMessage {
  const draft: Draft = { ...message };
  const items = new OutputDraft(draft);
  events.forEach(({ type, data }) => applyEvent(draft, items, { type, data: (data ?? {}) as Bag }));
  return draft;
}

/** What a message says: the texts of its output, or what it holds as plain content. */
export function textOf({ output, content }: Pick<ChatMessage, "output" | "content">): string {
  const texts = (output ?? []).filter(({ type }) => type === "message").map(itemText);
  return texts.length > 0 ? texts.filter((text) => text !== "").join("\n") : content;
}

/** Messages with a text in what a function gave back; anything else is no change. */
export function changedMessages(
  answer: unknown,
): readonly { readonly id: string; readonly content: string }[] {
  const messages = (answer as { messages?: unknown } | null | undefined)?.messages;
  return Array.isArray(messages)
    ? messages.filter((one) => typeof one?.id === "string" && typeof one?.content === "string")
    : [];
}

/** The text of one item of the kinds `message` and `reasoning`. */
export function itemText(item: OutputItem): string {
  const parts = Array.isArray(item["content"]) ? (item["content"] as Bag[]) : [];
  return parts.map((part) => String(part["text"] ?? part["refusal"] ?? "")).join("");
}

/** Copies the list and each changed item once for all events of one pass. */
class OutputDraft {
  readonly #draft: Draft;
  #items: OutputItem[] | undefined;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  put(item: OutputItem): void {
    const items = this.#own();
    const at = items.findLastIndex(({ id }) => id === item.id);
    items.splice(at < 0 ? items.length : at, at < 0 ? 0 : 1, { ...item });
  }

  /** Appends to an item that was announced before; a piece for an unknown one begins a text of its own. */
  append({ item_id: id, kind, content }: { item_id: string; kind: string; content: string }): void {
    const items = this.#own();
    let at = items.findLastIndex((item) => item.id === id);
    if (at < 0) {
      const type = types[kind] ?? "message";
      at = items.push({ type, id, status: "in_progress", content: [] }) - 1;
    }
    const item = items[at] as OutputItem;
    items[at] =
      kind === "arguments" || kind === "code"
        ? { ...item, [kind]: String(item[kind] ?? "") + content }
        : withText(item, content);
  }

  replaceAll(items: readonly OutputItem[]): void {
    this.#items = [...items];
    this.#draft.output = this.#items;
  }

  #own(): OutputItem[] {
    if (!this.#items) {
      this.#items = [...(this.#draft.output ?? [])];
      this.#draft.output = this.#items;
    }
    return this.#items;
  }
}

/** Items by the kind of their pieces. */
const types: Readonly<Record<string, string>> = {
  reasoning: "reasoning",
  arguments: "function_call",
  code: "service:code_interpreter",
};

function withText(item: OutputItem, text: string): OutputItem {
  const parts = Array.isArray(item["content"]) ? (item["content"] as Bag[]) : [];
  const last = parts.at(-1) ?? { type: "output_text", text: "" };
  return { ...item, content: [...parts.slice(0, -1), { ...last, text: String(last["text"] ?? "") + text }] };
}

function applyEvent(draft: Draft, items: OutputDraft, { type, data }: { type: string; data: Bag }): void {
  switch (type) {
    case "chat:message:delta":
      if (typeof data["item_id"] === "string") {
        items.append(data as { item_id: string; kind: string; content: string });
      } else {
        draft.content += String(data["content"] ?? "");
      }
      return;
    case "chat:completion":
      applyCompletion(draft, items, data);
      return;
    case "message":
      replaceText(draft, items, textOf(draft) + String(data["content"] ?? ""));
      return;
    case "replace":
    case "chat:message":
      replaceText(draft, items, String(data["content"] ?? ""));
      return;
    case "status":
      draft.statusHistory = [...(draft.statusHistory ?? []), data as unknown as StatusLine];
      return;
    case "source":
    case "citation":
      draft.sources = data["type"] ? draft.sources : withSources(draft.sources, [data as unknown as Source]);
      return;
    case "files":
    case "chat:message:files":
      draft.files = [...listOf(data["files"]), ...(draft.files ?? [])] as ChatMessage["files"];
      return;
    case "embeds":
    case "chat:message:embeds":
      draft.embeds = [
        ...listOf(data["embeds"]),
        ...(data["replace"] ? [] : (draft.embeds ?? [])),
      ] as string[];
      return;
    case "chat:message:error":
      draft.error = toError(data["error"]);
      draft.done = true;
      return;
    case "chat:message:follow_ups":
      draft.followUps = listOf(data["follow_ups"]).map(String);
      return;
    case "chat:message:favorite":
      draft.favorite = data["favorite"] === true;
      return;
    case "chat:message:tasks":
      draft.tasks = listOf(data["tasks"]) as ChatMessage["tasks"];
      return;
    case "chat:tasks:cancel":
      draft.done = true;
      return;
    default:
  }
}

function applyCompletion(draft: Draft, items: OutputDraft, data: Bag): void {
  const output = listOf(data["output"]) as OutputItem[];
  if (data["done"] === true && output.length > 0) {
    items.replaceAll(output);
  } else {
    output.forEach((item) => items.put(item));
  }
  if (Array.isArray(data["sources"])) {
    draft.sources = withSources(draft.sources, data["sources"] as Source[]);
  }
  if (data["usage"]) {
    draft.usage = data["usage"] as Bag;
  }
  if (typeof data["selected_model_id"] === "string") {
    draft.selectedModelId = data["selected_model_id"];
  }
  if (data["error"]) {
    draft.error = toError(data["error"]);
  }
  if (data["done"] === true) {
    draft.done = true;
    draft.ending = data["ending"] as ChatMessage["ending"];
    draft.content = textOf(draft);
  }
}

function replaceText(draft: Draft, items: OutputDraft, text: string): void {
  draft.content = text;
  const output = draft.output ?? [];
  const last = output.findLast(({ type }) => type === "message");
  if (last) {
    const others = output.filter(({ type, id }) => type !== "message" || id === last.id);
    items.replaceAll(
      others.map((item) =>
        item.id === last.id ? { ...item, content: [{ type: "output_text", text }] } : item,
      ),
    );
  }
}

/** Frames repeat sources that came before. */
function withSources(known: readonly Source[] | undefined, more: readonly Source[]): readonly Source[] {
  const seen = new Set((known ?? []).map((one) => JSON.stringify(one)));
  return [...(known ?? []), ...more.filter((one) => !seen.has(JSON.stringify(one)))];
}

function toError(error: unknown): NonNullable<ChatMessage["error"]> {
  if (typeof error === "string") {
    return { content: error };
  }
  const { content, message, detail, retry_at: retryAt } = (error ?? {}) as Bag;
  return {
    content: String(content ?? message ?? detail ?? "The reply failed."),
    ...(typeof retryAt === "number" && { retry_at: retryAt }),
  };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
