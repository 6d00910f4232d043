import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { OpenNote } from "./open-note.svelte.ts";

const pauseMs = 500;

/** The title of a note while it is typed: one that others store meanwhile does not replace it. */
export class NoteTitle {
  typed = $state<string>();
  /** False until the server has what was typed. */
  isStored = $state(true);
  readonly #note: OpenNote;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(note: OpenNote) {
    this.#note = note;
  }

  type(value: string): void {
    this.typed = value;
    this.isStored = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.store(), pauseMs);
  }

  /** Stores what was typed last. Where that fails it stays in the field, to be stored with the next call. */
  async store(): Promise<void> {
    clearTimeout(this.#timer);
    const { typed } = this;
    if (this.isStored || typed === undefined) {
      return;
    }
    try {
      if (typed !== this.#note.record?.title) {
        await this.#note.change({ title: typed.trim() });
      }
      this.isStored = this.typed === typed;
    } catch (error) {
      toasts.fail(error);
    }
  }

  /** The field is left. */
  async leave(): Promise<void> {
    await this.store();
    if (this.isStored) {
      this.typed = undefined;
    }
  }
}
