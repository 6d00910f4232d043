import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Answer, callServer } from "./app.ts";

// Chats are of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

/** A chat with a question and the placeholder of its answer. */
export interface MadeChat {
  readonly chatId: string;
  readonly userId: string;
  readonly replyId: string;
}

/** Calls of one account to chats and runs of a server. */
export interface ChatDriver {
  readonly token: string;
  call(route: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  makeChat(question?: string): Promise<MadeChat>;
  /** Starts a run; `more` says which chat and message, and may change everything else. */
  complete(more: object, headers?: Record<string, string>): Promise<Answer>;
  read(chatId: string): Promise<Any>;
  message(chatId: string, id: string): Promise<Any>;
  /** Ids of the runs of a chat. */
  tasks(chatId: string): Promise<string[]>;
  /** Resolves when no run of the chat is left. */
  ended(chatId: string): Promise<void>;
}

/** Drives a server that may move: the address is asked for with every call. */
export function chatDriver(url: () => string, token: string): ChatDriver {
  const call: ChatDriver["call"] = (route, body, headers = {}) =>
    callServer(url(), route, { token, body, headers });
  const must = async (route: string, body?: unknown): Promise<Any> => {
    const answer = await call(route, body);
    if (answer.status !== 200) {
      throw new Error(`${route} answered ${answer.status}: ${answer.text.slice(0, 500)}`);
    }
    return answer.body;
  };
  const read = (chatId: string) => must(`GET /api/v1/chats/${chatId}`);
  const tasks = async (chatId: string) => (await must(`GET /api/tasks/chat/${chatId}`)).task_ids as string[];
  return {
    token,
    call,
    read,
    tasks,
    async makeChat(question = "Hi") {
      const ids = { userId: randomUUID(), replyId: randomUUID() };
      const made = await must("POST /api/v1/chats/new", { chat: toChat(question, ids) });
      return { chatId: made.id, ...ids };
    },
    complete: (more, headers) => call("POST /api/chat/completions", toCompletion(more), headers),
    message: async (chatId, id) => (await read(chatId)).chat.history.messages[id],
    async ended(chatId) {
      while ((await tasks(chatId)).length > 0) {
        await pause(50);
      }
    },
  };
}

/** A chat object with a question and the placeholder of its answer. */
export function toChat(question: string, { userId, replyId }: Omit<MadeChat, "chatId">) {
  const messages = {
    [userId]: toUserMessage(userId, question, { childrenIds: [replyId] }),
    [replyId]: toReply(replyId, userId, { content: "", done: false }),
  };
  return { title: "A chat", models: ["alpha"], history: { currentId: replyId, messages } };
}

export function toUserMessage(id: string, content: string, more: object = {}) {
  return { id, role: "user", content, parentId: null, childrenIds: [], models: ["alpha"], ...more };
}

export function toReply(id: string, parentId: string, more: object = {}) {
  const names = { model: "alpha", modelName: "alpha", modelIdx: 0, timestamp: 1 };
  return { id, role: "assistant", content: id, parentId, childrenIds: [], done: true, ...names, ...more };
}

function toCompletion(more: object): object {
  const messages = [{ role: "user", content: "Hi" }];
  return { model: "alpha", messages, stream: true, session_id: "s1", ...more };
}
