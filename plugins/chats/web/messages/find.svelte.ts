import { lasting } from "#plugins/web/kit/lasting.svelte.ts";
import type { ChatView } from "../data/types.ts";
import { findHits, toPattern } from "./find-text.ts";

/** One place where the text was found: the so-and-so-many-th in its message. */
export interface Hit {
  readonly id: string;
  readonly nth: number;
}

/** The search in one chat. It reads the chat's data, because only the messages near the view are in the page. */
class Find {
  isOpen = $state(false);
  query = $state("");
  /** The hit that is shown. */
  current = $state.raw<Hit>();
  readonly #chat: ChatView;
  readonly pattern = $derived(toPattern(this.query));
  readonly #hits = $derived.by(() =>
    this.isOpen && this.pattern ? findHits(this.#chat.branch, this.pattern) : [],
  );
  readonly total = $derived(this.#hits.reduce((sum, { count }) => sum + count, 0));
  /** The number of the hit that is shown, from 1; 0 for none. */
  readonly position = $derived.by(() => {
    const { id, nth } = this.current ?? { id: "", nth: 0 };
    const at = this.#hits.findIndex((one) => one.id === id);
    const before = this.#hits.slice(0, at).reduce((sum, { count }) => sum + count, 0);
    return at < 0 ? 0 : before + Math.min(nth, (this.#hits[at]?.count ?? 1) - 1) + 1;
  });

  constructor(chat: ChatView) {
    this.#chat = chat;
  }

  /** Looks for another text; the first hit from this message on is shown. */
  ask(query: string, fromId: string | undefined): void {
    this.query = query;
    const ids = this.#chat.branchIds;
    const from = ids.indexOf(fromId ?? "");
    const hit = this.#hits.find(({ id }) => ids.indexOf(id) >= from) ?? this.#hits.at(-1);
    this.current = hit && { id: hit.id, nth: 0 };
  }

  /** Begins with words that a search over all chats found: with all of them where they stand together, else with one. */
  begin(words: readonly string[]): void {
    this.isOpen = true;
    for (const query of [words.join(" "), ...words]) {
      this.ask(query, undefined);
      if (this.total > 0) {
        return;
      }
    }
  }

  /** Goes on to the next hit or back to the one before, around the ends. */
  step(by: 1 | -1): void {
    if (this.total > 0) {
      let rest = (this.position - 1 + by + this.total) % this.total;
      for (const { id, count } of this.#hits) {
        if (rest < count) {
          this.current = { id, nth: rest };
          return;
        }
        rest -= count;
      }
    }
  }

  close(): void {
    this.isOpen = false;
    this.current = undefined;
  }
}

const finds = new WeakMap<ChatView, Find>();

export type { Find };

/** The search of a chat; the same one for its menu, its keys and its messages. */
export function findOf(chat: ChatView): Find {
  const known = finds.get(chat) ?? lasting(() => new Find(chat));
  finds.set(chat, known);
  return known;
}
