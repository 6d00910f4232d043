/** Text that came in, told apart. */
export interface Piece {
  readonly kind: "text" | "reasoning";
  readonly text: string;
  /** The tag that opened the reasoning; on its first piece only. */
  readonly tags?: Tags;
  /** True on the last piece of a reasoning whose closing tag came. */
  readonly closes?: boolean;
}

export type Tags = readonly [start: string, end: string];

/** Markers that models put around what they think (contract §3.5). */
export const knownTags: readonly Tags[] = [
  ...["think", "thinking", "reason", "reasoning", "thought", "Thought"].map((name): Tags => [
    `<${name}>`,
    `</${name}>`,
  ]),
  ["<|begin_of_thought|>", "<|end_of_thought|>"],
];

/** The tags a model's `reasoning_tags` asks for: the known ones, one pair of its own besides, or none for false. */
export function toTags(wish: unknown): readonly Tags[] {
  if (wish === false) {
    return [];
  }
  const isPair =
    Array.isArray(wish) && wish.length === 2 && wish.every((tag) => typeof tag === "string" && tag !== "");
  return isPair ? [[wish[0] as string, wish[1] as string], ...knownTags] : knownTags;
}

/**
 * Tells reasoning from text in a stream. A tag counts only where a text item starts, white space before it allowed;
 * one that is never closed runs to the end; a closing tag without an opener is text (contract D.20).
 */
export class TagReader {
  readonly #tags: readonly Tags[];
  #state: "start" | "inside" | "text" = "start";
  #held = "";
  #open: Tags | undefined;

  constructor(tags: readonly Tags[]) {
    this.#tags = tags;
    this.#state = tags.length === 0 ? "text" : "start";
  }

  /** What can be told now; the rest is held until more comes. */
  push(text: string): Piece[] {
    if (this.#state === "text") {
      return [{ kind: "text", text }];
    }
    this.#held += text;
    return this.#state === "start" ? this.#begin() : this.#continue();
  }

  /** What was held when the item ended; the next text starts a new item. */
  end(): Piece[] {
    const held = this.#held;
    const kind = this.#state === "inside" ? "reasoning" : "text";
    this.#held = "";
    this.#state = this.#tags.length === 0 ? "text" : "start";
    return held === "" ? [] : [{ kind, text: held }];
  }

  #begin(): Piece[] {
    const trimmed = this.#held.trimStart();
    const tags = this.#tags.find(([start]) => trimmed.startsWith(start));
    if (tags) {
      this.#state = "inside";
      this.#open = tags;
      this.#held = trimmed.slice(tags[0].length);
      return [{ kind: "reasoning", text: "", tags }, ...this.#continue()];
    }
    if (this.#tags.some(([start]) => start.startsWith(trimmed))) {
      return [];
    }
    const text = this.#held;
    this.#held = "";
    this.#state = "text";
    return [{ kind: "text", text }];
  }

  #continue(): Piece[] {
    const end = this.#open?.[1] ?? "";
    const at = this.#held.indexOf(end);
    if (at < 0) {
      const kept = overlap(this.#held, end);
      const text = this.#held.slice(0, this.#held.length - kept);
      this.#held = this.#held.slice(text.length);
      return text === "" ? [] : [{ kind: "reasoning", text }];
    }
    const text = this.#held.slice(0, at);
    this.#held = this.#held.slice(at + end.length);
    this.#state = "start";
    return [{ kind: "reasoning", text, closes: true }, ...(this.#held === "" ? [] : this.#begin())];
  }
}

/** How many characters at the end of `text` may be the beginning of `tag`. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) {
      return length;
    }
  }
  return 0;
}
