import { SvelteMap } from "svelte/reactivity";
import { drafts as kept } from "#plugins/web/kit/stores/drafts.ts";
import type { ChatView } from "../data/types.ts";

const drafts = new WeakMap<ChatView, MessageDrafts>();

interface Change {
  readonly text: string;
  /** The text of the message when the change began, whatever another window makes of it meanwhile. */
  readonly begun: string;
}

/** Texts of messages that are being changed; those of stored chats outlive the page. */
class MessageDrafts extends SvelteMap<string, string> {
  readonly #begun: Map<string, string>;
  readonly #chat: ChatView;

  constructor(chat: ChatView) {
    const key = keyOf(chat);
    const changes = Object.entries(
      (key === undefined ? undefined : kept.of<Record<string, Change>>(key)?.value) ?? {},
    );
    super(changes.map(([id, { text }]) => [id, text]));
    this.#begun = new Map(changes.map(([id, { begun }]) => [id, begun]));
    this.#chat = chat;
  }

  override set(id: string, text: string): this {
    if (!this.has(id)) {
      this.#begun.set(id, text);
    }
    super.set(id, text);
    this.#keep();
    return this;
  }

  override delete(id: string): boolean {
    const wasThere = super.delete(id);
    this.#keep();
    return wasThere;
  }

  /** The text of the message when the change began. */
  begun(id: string): string {
    return this.#begun.get(id) ?? "";
  }

  #keep(): void {
    const key = keyOf(this.#chat);
    if (key === undefined) {
      return;
    }
    const changes = [...this]
      .map(([id, text]): [string, Change] => [id, { text, begun: this.begun(id) }])
      .filter(([, { text, begun }]) => text !== begun);
    if (changes.length > 0) {
      kept.put(key, Object.fromEntries(changes));
    } else {
      kept.remove(key);
    }
  }
}

/** Name of the draft; undefined for a chat that is kept nowhere. */
const keyOf = ({ id, isTemporary }: ChatView) =>
  id === undefined || isTemporary ? undefined : `edits:${id}`;

/** Messages of a chat that are being changed, with their texts so far: they outlast being scrolled out of the page. */
export function draftsOf(chat: ChatView): MessageDrafts {
  const known = drafts.get(chat) ?? new MessageDrafts(chat);
  drafts.set(chat, known);
  return known;
}
