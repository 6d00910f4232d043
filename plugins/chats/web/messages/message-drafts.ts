import { SvelteMap } from "svelte/reactivity";
import type { ChatView } from "../data/types.ts";

const drafts = new WeakMap<ChatView, MessageDrafts>();

/** Texts of messages that are being changed. */
class MessageDrafts extends SvelteMap<string, string> {
  readonly #begun = new Map<string, string>();

  override set(id: string, text: string): this {
    if (!this.has(id)) {
      this.#begun.set(id, text);
    }
    return super.set(id, text);
  }

  /** What the message said when the change began, whatever another window makes of it meanwhile. */
  begun(id: string): string {
    return this.#begun.get(id) ?? "";
  }
}

/** Messages of a chat that are being changed, with their texts so far: they outlast being scrolled out of the page. */
export function draftsOf(chat: ChatView): MessageDrafts {
  const known = drafts.get(chat) ?? new MessageDrafts();
  drafts.set(chat, known);
  return known;
}
