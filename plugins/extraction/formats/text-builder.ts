import type { TextPlace } from "#plugins/files/service.ts";
import type { ExtractedText } from "../service.ts";

export type Place = Omit<TextPlace, "start">;

/**
 * Gathers the text of a document with the places of its parts, up to a limit. A place without text leaves no trace.
 */
export class TextBuilder {
  readonly #limit: number;
  readonly #pieces: string[] = [];
  readonly #places: TextPlace[] = [];
  #length = 0;
  #scope: Place = {};
  #pending: Place | undefined;
  #isTruncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  /** True when more text would be dropped, so that a reader may stop. */
  get isFull(): boolean {
    return this.#isTruncated;
  }

  /** Text that is added from now on stands there. */
  begin(place: Place): void {
    this.#pending = { ...this.#scope, ...place };
  }

  /** Everything that `read` adds stands within this place. */
  async within(place: Place, read: () => Promise<void>): Promise<void> {
    const outer = this.#scope;
    this.#scope = { ...outer, ...place };
    this.#pending = this.#scope;
    try {
      await read();
    } finally {
      this.#scope = outer;
      this.#pending = outer;
    }
  }

  add(text: string): void {
    if (this.#pending !== undefined || this.#length === 0) {
      const from = text.search(/\S/);
      if (from === -1) {
        return;
      }
      // Indentation of the first line belongs to the text, empty lines before it do not.
      this.#open();
      this.#push(text.slice(text.lastIndexOf("\n", from) + 1));
      return;
    }
    this.#push(text);
  }

  finish(): ExtractedText {
    const text = this.#pieces.join("").trimEnd();
    const places = this.#places.filter(({ start }) => start < text.length);
    return { text, places, ...(this.#isTruncated ? { truncated: true } : {}) };
  }

  #open(): void {
    if (this.#length > 0) {
      this.#push("\n\n");
    }
    const place = this.#pending;
    this.#pending = undefined;
    if (place && (Object.keys(place).length > 0 || this.#places.length > 0) && !this.#isTruncated) {
      this.#places.push({ start: this.#length, ...place });
    }
  }

  #push(text: string): void {
    const room = this.#limit - this.#length;
    if (text.length > room) {
      this.#isTruncated = true;
    }
    const kept = text.length > room ? text.slice(0, Math.max(room, 0)).replace(/[\ud800-\udbff]$/, "") : text;
    this.#pieces.push(kept);
    this.#length += kept.length;
  }
}
