/** A part of a text: what the model says, or what it thinks. */
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

/** The tags that a model's `reasoning_tags` asks for: the known ones, a pair of its own besides, or none for `false`. */
export function toTags(setting: unknown): readonly Tags[] {
  if (setting === false) {
    return [];
  }
  const isPair =
    Array.isArray(setting) &&
    setting.length === 2 &&
    setting.every((tag) => typeof tag === "string" && tag !== "");
  return isPair ? [[setting[0] as string, setting[1] as string], ...knownTags] : knownTags;
}

/**
 * Splits a streamed text into reasoning and text. A tag counts only where a text item starts, white space before it
 * allowed; a tag that is never closed runs to the end; a closing tag without an opener is text (contract D.20).
 */
export class TagReader {
  readonly #tags: readonly Tags[];
  #state: "start" | "inside" | "text" = "start";
  #buffer = "";
  #open: Tags | undefined;

  constructor(tags: readonly Tags[]) {
    this.#tags = tags;
    this.#state = tags.length === 0 ? "text" : "start";
  }

  /** The pieces that are certain; a possible beginning of a tag is buffered until more text comes. */
  push(text: string): Piece[] {
    if (this.#state === "text") {
      return [{ kind: "text", text }];
    }
    this.#buffer += text;
    return this.#state === "start" ? this.#begin() : this.#continue();
  }

  /** Ends the text item and flushes the buffer; the next text starts a new item. */
  end(): Piece[] {
    const buffered = this.#buffer;
    const kind = this.#state === "inside" ? "reasoning" : "text";
    this.#buffer = "";
    this.#state = this.#tags.length === 0 ? "text" : "start";
    return buffered === "" ? [] : [{ kind, text: buffered }];
  }

  #begin(): Piece[] {
    const trimmed = this.#buffer.trimStart();
    const tags = this.#tags.find(([start]) => trimmed.startsWith(start));
    if (tags) {
      this.#state = "inside";
      this.#open = tags;
      this.#buffer = trimmed.slice(tags[0].length);
      return [{ kind: "reasoning", text: "", tags }, ...this.#continue()];
    }
    if (this.#tags.some(([start]) => start.startsWith(trimmed))) {
      return [];
    }
    const text = this.#buffer;
    this.#buffer = "";
    this.#state = "text";
    return [{ kind: "text", text }];
  }

  #continue(): Piece[] {
    const end = this.#open?.[1] ?? "";
    const at = this.#buffer.indexOf(end);
    if (at < 0) {
      const kept = overlap(this.#buffer, end);
      const text = this.#buffer.slice(0, this.#buffer.length - kept);
      this.#buffer = this.#buffer.slice(text.length);
      return text === "" ? [] : [{ kind: "reasoning", text }];
    }
    const text = this.#buffer.slice(0, at);
    this.#buffer = this.#buffer.slice(at + end.length);
    this.#state = "start";
    return [{ kind: "reasoning", text, closes: true }, ...(this.#buffer === "" ? [] : this.#begin())];
  }
}

/** A whole text without the reasoning in known tags at its start. */
export function withoutReasoning(text: string): string {
  const reader = new TagReader(knownTags);
  const pieces = [...reader.push(text), ...reader.end()];
  return pieces.map((piece) => (piece.kind === "text" ? piece.text : "")).join("");
}

/** Number of characters at the end of `text` that may be the beginning of `tag`. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) {
      return length;
    }
  }
  return 0;
}
