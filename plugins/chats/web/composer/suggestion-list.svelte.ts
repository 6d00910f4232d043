import { contributed } from "#plugins/web/kit/contributions.ts";
import type { ComposerTrigger, Suggestion } from "#plugins/web/kit/web.ts";
import type { Composer } from "./composer.svelte.ts";
import { findTrigger, type FoundTrigger } from "./find-trigger.ts";

const typingMs = 120;

/** The suggestions for the word at the cursor, when it begins with a character that somebody has a list for. */
export class SuggestionList {
  suggestions = $state.raw<readonly Suggestion[]>([]);
  active = $state(0);
  isOpen = $state(false);
  isLoading = $state(false);
  failure = $state<string>();
  title = $state("");
  readonly #composer: Composer;
  readonly #triggers: readonly ComposerTrigger[] = contributed("triggers");
  readonly #characters = [...new Set(this.#triggers.map(({ character }) => character))];
  #found: FoundTrigger | undefined;
  /** Where a list was closed by Esc: it stays closed for this word. */
  #dismissedAt: number | undefined;
  #stop: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(composer: Composer) {
    this.#composer = composer;
  }

  /** Called after each change of the text or of the cursor. */
  follow(text: string, cursor: number): void {
    const found = findTrigger(text, cursor, this.#characters);
    if (found?.start !== this.#dismissedAt) {
      this.#dismissedAt = undefined;
    }
    if (!found || this.#dismissedAt !== undefined) {
      this.close();
    } else if (found.character !== this.#found?.character || found.query !== this.#found.query) {
      this.#open(found);
    } else {
      this.#found = found;
    }
  }

  /** True when the key was the list's. */
  handleKey(event: KeyboardEvent): boolean {
    if (!this.isOpen || event.isComposing) {
      return false;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const count = this.suggestions.length;
    if (step !== undefined && count > 0) {
      this.active = (this.active + step + count) % count;
    } else if ((event.key === "Enter" || event.key === "Tab") && count > 0 && !event.shiftKey) {
      this.pick(this.active);
    } else if (event.key === "Escape") {
      this.#dismissedAt = this.#found?.start;
      this.close();
    } else {
      return false;
    }
    return true;
  }

  pick(index: number): void {
    const suggestion = this.suggestions[index];
    this.#composer.trigger = this.#found;
    this.close();
    void suggestion?.pick(this.#composer);
  }

  close(): void {
    this.#stop?.abort();
    clearTimeout(this.#timer);
    this.#found = undefined;
    this.isOpen = false;
    this.suggestions = [];
  }

  #open(found: FoundTrigger): void {
    const isSame = this.#found?.character === found.character;
    this.#stop?.abort();
    clearTimeout(this.#timer);
    const { signal } = (this.#stop = new AbortController());
    this.#found = found;
    const lists = this.#triggers.filter(({ character }) => character === found.character);
    this.title = lists[0]?.title ?? "";
    this.isLoading = true;
    if (!isSame) {
      this.suggestions = [];
      this.active = 0;
    }
    const read = () => void this.#read(lists, found.query, signal);
    this.#timer = setTimeout(read, isSame ? typingMs : 0);
  }

  async #read(lists: readonly ComposerTrigger[], query: string, signal: AbortSignal): Promise<void> {
    try {
      const found = await Promise.all(lists.map((one) => one.list(query, signal)));
      if (signal.aborted) {
        return;
      }
      this.suggestions = found.flat();
      this.failure = undefined;
      // A character that nobody has anything for is a character.
      this.isOpen = this.suggestions.length > 0 || query !== "";
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      this.suggestions = [];
      this.failure = (error as Error).message;
      this.isOpen = true;
    }
    this.active = 0;
    this.isLoading = false;
  }
}
