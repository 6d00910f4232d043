import { untrack } from "svelte";
import { drafts } from "./stores/drafts.ts";
import { leaving } from "./stores/leaving.svelte.ts";

/** A form whose values survive a page that is left, reloaded or closed. */
export interface UnsavedForm<Value> {
  /** The thing that is edited, such as `function:<id>`; undefined while the form does not show it yet. */
  key(): string | undefined;
  /** Everything that is typed, as JSON takes it. */
  written(): Value;
  /** Puts values in the form. Left out where nothing may be kept, such as keys of providers. */
  restore?(value: Value): void;
}

/**
 * Keeps what is typed in a form as a draft, and puts it back when the form is opened again; `UnsavedNotice` tells of
 * it. What cannot be kept is asked about before it is left. Made while a component is set up.
 */
export class Unsaved<Value = unknown> {
  /** When the draft that was put back was written. */
  restoredAt = $state<number>();
  readonly #form: UnsavedForm<Value>;
  #opened: string | undefined;
  /** The values that are stored, as JSON. */
  #stored = "";
  #isKept = false;

  constructor(form: UnsavedForm<Value>) {
    this.#form = form;
    $effect(() => {
      const key = form.key();
      const text = key === undefined ? "" : JSON.stringify(form.written());
      untrack(() => this.#follow(key, text));
    });
    $effect(() => leaving.guard(() => this.#isLossy));
  }

  /** Told when the server has what is typed. */
  saved(): void {
    this.#stored = JSON.stringify(this.#form.written());
    this.restoredAt = undefined;
    this.#forget();
  }

  /** Shows what is stored again. */
  discard = (): void => {
    this.#form.restore?.(JSON.parse(this.#stored) as Value);
    this.restoredAt = undefined;
  };

  #follow(key: string | undefined, text: string): void {
    if (key !== this.#opened) {
      this.#opened = key;
      this.#stored = text;
      this.#isKept = false;
      this.#open();
    } else if (text === this.#stored) {
      this.restoredAt = undefined;
      this.#forget();
    } else if (key !== undefined && this.#form.restore) {
      this.#isKept = drafts.put(key, JSON.parse(text));
    }
  }

  #open(): void {
    const draft = this.#opened === undefined ? undefined : drafts.of<Value>(this.#opened);
    const isOther = draft !== undefined && JSON.stringify(draft.value) !== this.#stored;
    this.restoredAt = isOther ? draft.at : undefined;
    if (isOther) {
      this.#form.restore?.(draft.value);
    }
  }

  #forget(): void {
    if (this.#opened !== undefined) {
      drafts.remove(this.#opened);
    }
  }

  get #isLossy(): boolean {
    return (
      this.#opened !== undefined &&
      !this.#isKept &&
      JSON.stringify(untrack(() => this.#form.written())) !== this.#stored
    );
  }
}
