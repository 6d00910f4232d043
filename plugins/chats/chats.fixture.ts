import { accounts, type Accounts } from "#plugins/accounts/service.ts";
import type { Answer, App } from "#test/support/app.ts";
import { type Chats, chats, replies, type Replies } from "./service.ts";

export interface ChatServices {
  readonly accounts: Accounts;
  readonly chats: Chats;
  readonly replies: Replies;
}

/** The services of stored chats in a running app. */
export const chatServices = ({ running }: App): ChatServices => ({
  accounts: running.service(accounts),
  chats: running.service(chats),
  replies: running.service(replies),
});

/** What one account does with chats over HTTP. */
export interface ChatClient {
  /** `METHOD /rest` below `/api/v1/chats`. */
  call(route: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a chat and answers it; fails when that fails. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  make(chat: Record<string, unknown>, more?: Record<string, unknown>): Promise<any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  read(id: string): Promise<any>;
}

export function chatClient(app: App, token: string | undefined): ChatClient {
  const call: ChatClient["call"] = (route, body, headers) => {
    const [method, path] = route.split(" ", 2) as [string, string];
    return app.call(`${method} /api/v1/chats${path}`, { token, body, ...(headers ? { headers } : {}) });
  };
  const must = (answer: Answer) => {
    if (answer.status !== 200) {
      throw new Error(`${answer.status}: ${answer.text}`);
    }
    return answer.body;
  };
  return {
    call,
    make: async (chat, more = {}) =>
      must(await call("POST /new", { chat: { title: "A chat", models: ["guide"], ...chat }, ...more })),
    read: async (id) => must(await call(`GET /${id}`)),
  };
}

/** `chat` of an answer without what is told with every answer: who wrote the messages, and how the chat is shared. */
export function withoutAuthor({
  share_mode: _mode,
  ...chat
}: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(chat, (key, value) => (/^user(_id)?$/.test(key) ? undefined : value)));
}

/** A user message. */
export function said(id: string, content: unknown, more: Record<string, unknown> = {}) {
  return { id, role: "user", content, models: ["guide"], childrenIds: [], timestamp: 1_700_000_000, ...more };
}

/** An assistant's reply. */
export function replied(id: string, parentId: string, more: Record<string, unknown> = {}) {
  const names = { model: "guide", modelName: "Guide", modelIdx: 0 };
  return {
    id,
    role: "assistant",
    content: `reply ${id}`,
    parentId,
    childrenIds: [],
    done: true,
    ...names,
    ...more,
  };
}

/** A chat object with a question and its answer. */
export function conversation() {
  const messages = { u1: said("u1", "Where is the moon?", { childrenIds: ["a1"] }), a1: replied("a1", "u1") };
  return { history: { currentId: "a1", messages } };
}
