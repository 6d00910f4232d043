import { server } from "#plugins/web/kit/server.ts";
import type { ChatMessage, Controls } from "./types.ts";

type Bag = Readonly<Record<string, unknown>>;

/** What `GET /api/v1/chats/:id` answers, as far as the page reads it. */
export interface ServerChat {
  readonly id: string;
  readonly user_id: string;
  readonly title: string;
  readonly pinned: boolean | null;
  readonly archived: boolean;
  readonly folder_id: string | null;
  readonly share_id: string | null;
  readonly meta: { readonly tags?: readonly string[] };
  readonly variables: Bag;
  readonly tasks?: unknown;
  readonly chat: {
    readonly models?: readonly string[];
    readonly params?: Bag;
    readonly history: { readonly messages: Readonly<Record<string, Bag>>; readonly currentId: string | null };
  };
  readonly context_usage?: { readonly tokens: number; readonly threshold: number } | null;
}

export async function readTagNames(id: string): Promise<readonly string[]> {
  const tags = await server.call("GET /api/v1/chats/:id/tags", { params: { id } });
  return tags.map(({ name }) => name);
}

/** Stored messages in the shape of the page: what others wrote may lack anything. */
export function readMessages({ chat }: ServerChat): Map<string, ChatMessage> {
  const stored = Object.entries(chat.history.messages);
  return new Map(stored.map(([id, message]) => [id, readMessage(id, message)]));
}

export function readMessage(id: string, message: Bag): ChatMessage {
  const { content, role, parentId, childrenIds, timestamp } = message;
  return {
    ...message,
    id,
    role: role === "user" ? "user" : "assistant",
    parentId: typeof parentId === "string" ? parentId : null,
    childrenIds: Array.isArray(childrenIds) ? (childrenIds as string[]) : [],
    content: readContent(content),
    timestamp: typeof timestamp === "number" ? timestamp : 0,
  };
}

export function readControls({ chat, variables }: ServerChat): Controls {
  const { system, ...params } = chat.params ?? {};
  return { system: typeof system === "string" ? system : "", params, variables: variables ?? {} };
}

/** Content is a text, or parts of which some are texts. */
export function readContent(content: unknown): string {
  if (Array.isArray(content)) {
    return content
      .map((part: Bag | null) => part?.["text"])
      .filter((text) => typeof text === "string")
      .join("\n");
  }
  return typeof content === "string" ? content : "";
}
