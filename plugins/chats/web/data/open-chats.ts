import { lasting } from "#plugins/web/kit/lasting.svelte.ts";
import { ChatStore, type NewChatOptions } from "./chat.svelte.ts";

/** Chats that were shown lately: coming back shows them at once, and what they write goes on. */
const most = 8;
const open = new Map<string, ChatStore>();

/** The store of a stored chat; the same one for as long as it is among the last that were shown. */
export function openChat(id: string): ChatStore {
  const known = open.get(id) ?? lasting(() => new ChatStore(id));
  open.delete(id);
  open.set(id, known);
  for (const [old, store] of open) {
    if (open.size > most && !store.isRunning && store !== known) {
      open.delete(old);
      store.close();
    }
  }
  return known;
}

/** The store of a chat that is or was shown. */
export const knownChat = (id: string): ChatStore | undefined => open.get(id);

/** A chat that the server makes with its first message. `adopt` keeps it once it has an id. */
export function newChat(options: NewChatOptions): ChatStore {
  return lasting(() => new ChatStore(options));
}

/** Finds a chat that began as a new one under the address that it has now. */
export function adopt(chat: ChatStore): void {
  if (chat.id !== undefined && !chat.isTemporary) {
    open.set(chat.id, chat);
  }
}

/** Leaves a chat that is no more. */
export function forget(chat: ChatStore): void {
  if (chat.id !== undefined) {
    open.delete(chat.id);
  }
  chat.close();
}
