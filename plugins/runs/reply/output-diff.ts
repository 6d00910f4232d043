import type { GrownItem } from "#plugins/chats/service.ts";
import type { OutputItem } from "./items.ts";

interface Entry {
  /** The item is new, or has changed in more than what is added at its end. */
  isWhole: boolean;
  text: string;
  details: unknown[];
}

/** Changes of a reply's items since the last flush: a checkpoint of a long reply stores only these. */
export class OutputDiff {
  #entries = new Map<OutputItem, Entry>();
  /** How many parts the content of an item had when it was seen last. */
  readonly #parts = new WeakMap<OutputItem, number>();

  /** Text was added at the end of an item. */
  text(item: OutputItem, text: string): void {
    const entry = this.#of(item);
    entry.text += text;
    // A part that is new is more than text.
    entry.isWhole ||= this.#parts.get(item) !== partsOf(item);
    this.#parts.set(item, partsOf(item));
  }

  /** What a provider wants back was added to an item. */
  details(item: OutputItem, details: readonly unknown[]): void {
    this.#of(item).details.push(...details);
  }

  whole(item: OutputItem): void {
    this.#of(item).isWhole = true;
    this.#parts.set(item, partsOf(item));
  }

  clear(): void {
    this.#entries = new Map();
  }

  /** Returns the changes by the place of each item, and begins anew. */
  flush(items: readonly OutputItem[]): GrownItem[] {
    const entries = this.#entries;
    this.clear();
    return [...entries].map(([item, { isWhole, text, details }]) => {
      const at = items.lastIndexOf(item);
      return isWhole
        ? { at, item }
        : { at, ...(text !== "" && { text }), ...(details.length > 0 && { details }) };
    });
  }

  #of(item: OutputItem): Entry {
    const known = this.#entries.get(item);
    const entry = known ?? { isWhole: false, text: "", details: [] };
    if (known === undefined) {
      this.#entries.set(item, entry);
    }
    return entry;
  }
}

function partsOf(item: OutputItem): number {
  return item.type === "message" || item.type === "reasoning" ? (item.content as unknown[]).length : 0;
}
