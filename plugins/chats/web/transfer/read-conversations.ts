import type { ExportedChat, ExportedMessage } from "./exported.ts";

/** One conversation of a `conversations.json`, the file of exports of ChatGPT. */
export interface Conversation {
  readonly title?: string | null;
  readonly create_time?: number | null;
  readonly update_time?: number | null;
  readonly current_node?: string | null;
  readonly default_model_slug?: string | null;
  readonly is_archived?: boolean;
  readonly mapping: Readonly<Record<string, ConversationNode>>;
}

interface ConversationNode {
  readonly id?: string;
  readonly parent?: string | null;
  readonly children?: readonly string[];
  readonly message?: ConversationMessage | null;
}

interface ConversationMessage {
  readonly author?: { readonly role?: string };
  readonly create_time?: number | null;
  readonly recipient?: string;
  readonly content?: {
    readonly content_type?: string;
    readonly parts?: readonly unknown[];
    readonly text?: unknown;
  };
  readonly metadata?: {
    readonly model_slug?: string;
    readonly is_visually_hidden_from_conversation?: boolean;
  };
}

export function isConversation(value: unknown): value is Conversation {
  const { mapping } = (value ?? {}) as { mapping?: unknown };
  return typeof mapping === "object" && mapping !== null && !Array.isArray(mapping);
}

/** The conversation as a chat, every branch included. Calls of tools and what was hidden are left out. */
export function toChat(conversation: Conversation): ExportedChat {
  const { mapping } = conversation;
  const kept = new Map<string, ExportedMessage & { childrenIds: string[] }>();
  for (const [id, node] of Object.entries(mapping)) {
    const message = toMessage(id, node.message);
    if (message) {
      kept.set(id, { ...message, childrenIds: [] });
    }
  }
  const messages: Record<string, ExportedMessage> = {};
  for (const [id, message] of kept) {
    const parentId = keptAncestor(mapping, mapping[id]?.parent, kept);
    messages[id] = { ...message, parentId };
    if (parentId !== null) {
      kept.get(parentId)?.childrenIds.push(id);
    }
  }
  const currentId = keptAncestor(mapping, conversation.current_node, kept) ?? [...kept.keys()].at(-1) ?? null;
  const models = [...new Set([...kept.values()].flatMap(({ model }) => (model ? [model] : [])))];
  const title = conversation.title?.trim() || "Chat";
  return {
    title,
    chat: { title, models: models.slice(-1), history: { currentId, messages } },
    ...(conversation.is_archived ? { archived: true } : {}),
    ...times(conversation),
  };
}

function toMessage(id: string, message: ConversationMessage | null | undefined): ExportedMessage | undefined {
  const role = message?.author?.role;
  const isShown = message?.metadata?.is_visually_hidden_from_conversation !== true;
  const isToEverybody = message?.recipient === undefined || message.recipient === "all";
  const text = isShown && isToEverybody ? textOf(message?.content) : "";
  if ((role !== "user" && role !== "assistant") || text === "") {
    return undefined;
  }
  const model = message?.metadata?.model_slug;
  const time = message?.create_time;
  return {
    id,
    role,
    content: text,
    ...(time ? { timestamp: Math.floor(time) } : {}),
    ...(role === "assistant" ? { done: true, ...(model ? { model, modelName: model } : {}) } : {}),
  };
}

/** Texts alone: the file names pictures without holding them. */
function textOf(content: ConversationMessage["content"]): string {
  const type = content?.content_type;
  if (type !== "text" && type !== "multimodal_text" && type !== "code") {
    return "";
  }
  if (type === "code") {
    return typeof content?.text === "string" && content.text !== "" ? `\`\`\`\n${content.text}\n\`\`\`` : "";
  }
  return (content?.parts ?? [])
    .filter((part): part is string => typeof part === "string" && part !== "")
    .join("\n\n");
}

function keptAncestor(
  mapping: Conversation["mapping"],
  from: string | null | undefined,
  kept: ReadonlyMap<string, unknown>,
): string | null {
  const seen = new Set<string>();
  let id = from;
  while (id && !seen.has(id)) {
    if (kept.has(id)) {
      return id;
    }
    seen.add(id);
    id = mapping[id]?.parent;
  }
  return null;
}

function times({ create_time: made, update_time: changed }: Conversation): Partial<ExportedChat> {
  return {
    ...(made ? { created_at: Math.floor(made) } : {}),
    ...(changed ? { updated_at: Math.floor(changed) } : {}),
  };
}
