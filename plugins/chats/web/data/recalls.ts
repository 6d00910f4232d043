import { ApiError } from "#plugins/web/kit/client.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { FollowedChat } from "./followed-chat.svelte.ts";
import { chatList } from "./list.svelte.ts";

const mostTries = 60;
const pauseMs = 250;

/** What was taken back, by the ids that its request gave. */
export interface Recalled {
  /** The question, where it is new. */
  readonly question: string | undefined;
  readonly replies: readonly string[];
  /** The reply was there before, and would only have gone on. */
  readonly continues: boolean;
  /** The server makes a chat for it. */
  readonly makesChat: boolean;
}

/** Stops and removes on the server what was taken back while its request was on the way. */
export class Recalls {
  readonly #chat: FollowedChat;
  readonly #all = new Map<string, Recalled>();
  readonly #taken = new Set<string>();

  constructor(chat: FollowedChat) {
    this.#chat = chat;
  }

  add(key: string, recalled: Recalled): void {
    this.#all.set(key, recalled);
  }

  /** An event of a reply proves that the server has it. True when the page shall not show it. */
  receive(replyId: string, chatId: string | undefined): boolean {
    const [key, recalled] = [...this.#all].find(([, { replies }]) => replies.includes(replyId)) ?? [];
    if (key !== undefined && chatId !== undefined) {
      void this.take(key, chatId);
    }
    return recalled?.continues === false;
  }

  /** The server has it, in this chat. */
  async take(key: string, chatId: string): Promise<void> {
    const recalled = this.#all.get(key);
    if (recalled === undefined || this.#taken.has(key)) {
      return;
    }
    this.#taken.add(key);
    try {
      await remove(recalled, chatId);
    } catch (error) {
      // Another window may have removed it.
      if (!(error instanceof ApiError && error.status === 404)) {
        this.#all.delete(key);
        toasts.fail(error, t("The message was sent before it could be taken back."));
        chatList.refreshSoon();
      }
    }
    await this.#chat.load();
  }
}

async function remove({ question, replies, continues, makesChat }: Recalled, chatId: string): Promise<void> {
  await server.call("POST /api/tasks/chat/:chat_id/stop", { params: { chat_id: chatId } });
  if (continues || chatId.startsWith("temporary:")) {
    return;
  }
  if (makesChat) {
    await server.call("DELETE /api/v1/chats/:id", { params: { id: chatId } });
    chatList.drop([chatId]);
    return;
  }
  // Replies first: what follows a message that goes would follow the one before it.
  for (const id of [...replies, ...(question === undefined ? [] : [question])]) {
    await removeMessage(chatId, id);
  }
}

/** A stopped run writes its reply to the end, and holds it until then. */
async function removeMessage(chatId: string, id: string): Promise<void> {
  for (let left = mostTries; ; left -= 1) {
    try {
      await server.call("DELETE /api/v1/chats/:id/messages/:message_id", {
        params: { id: chatId, message_id: id },
        headers: { prefer: "return=minimal" },
      });
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409 && left > 0)) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
