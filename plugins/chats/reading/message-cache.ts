import type { MessageText } from "./message-rows.ts";

export interface MessageCacheOptions {
  /** Bytes that are kept in all, each message counted as sent and as read. */
  readonly most: number;
  /** Milliseconds after which nobody has use for a chat any more. */
  readonly idleMs: number;
}

/** Texts of messages of long chats, for whoever reads the same chat again. */
export interface MessageCache {
  /** The message's text, when it is that of this state of its row. */
  find(
    chatId: string,
    message: { readonly id: string; readonly version: string | null },
  ): MessageText | undefined;
  /** Keeps texts as long as there is room; chats that were read longest ago make it. */
  add(chatId: string, texts: ReadonlyMap<string, MessageText>): void;
}

interface KeptChat {
  readonly texts: Map<string, MessageText>;
  size: number;
  usedAt: number;
}

/**
 * A long chat is read again and again while somebody is in it: whole, and with every question. What its rows say is
 * kept for a while; each reader asks the database which state the rows are in, so that nothing old is ever given out,
 * whichever process changed it.
 */
export function createMessageCache({ most, idleMs }: MessageCacheOptions): MessageCache {
  /** The one that was used last is the last one. */
  const chats = new Map<string, KeptChat>();
  let size = 0;
  let timer: NodeJS.Timeout | undefined;

  const drop = (chatId: string, chat: KeptChat) => {
    chats.delete(chatId);
    size -= chat.size;
  };
  const touch = (chatId: string, chat: KeptChat) => {
    chat.usedAt = Date.now();
    chats.delete(chatId);
    chats.set(chatId, chat);
    timer ??= setInterval(sweep, idleMs / 2).unref();
  };
  const sweep = () => {
    for (const [chatId, chat] of chats) {
      if (Date.now() - chat.usedAt >= idleMs) {
        drop(chatId, chat);
      }
    }
    if (chats.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
  const makeRoom = (wanted: number, chatId: string) => {
    for (const [id, chat] of chats) {
      if (size + wanted > most && id !== chatId) {
        drop(id, chat);
      }
    }
    return size + wanted <= most;
  };

  return {
    find(chatId, { id, version }) {
      const chat = chats.get(chatId);
      const text = chat?.texts.get(id);
      if (chat === undefined || text === undefined || text.version !== version) {
        return undefined;
      }
      chat.usedAt = Date.now();
      return text;
    },
    add(chatId, texts) {
      const chat = chats.get(chatId) ?? { texts: new Map<string, MessageText>(), size: 0, usedAt: 0 };
      touch(chatId, chat);
      for (const [id, text] of texts) {
        const growth = sizeOf(text) - sizeOf(chat.texts.get(id));
        if (text.version !== null && makeRoom(growth, chatId)) {
          chat.texts.set(id, text);
          chat.size += growth;
          size += growth;
        }
      }
    },
  };
}

function sizeOf(text: MessageText | undefined): number {
  return 2 * (text?.members.length ?? 0);
}
