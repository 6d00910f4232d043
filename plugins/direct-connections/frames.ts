import { AppError } from "#kernel/errors.ts";
import { parseJson } from "#kernel/http/json.ts";
import type { Json } from "#kernel/sandbox.ts";

/** One event of a channel: an item of the answer, or its end. */
export type Frame = { readonly item: Json } | "end";

const prefix = "data:";
/** Longest line that may arrive in pieces. */
const maxLine = 4 * 1024 * 1024;
/** Characters that are read for one line, as often as it looks complete and is not. */
const maxRead = 4 * maxLine;

/**
 * Reads what clients emit on a channel: lines of the upstream's event stream as they read them, with or without their
 * ends, one or several at a time; chunk objects; and `{done: true}` at the end. A line that was cut where the network cut
 * it is put together again. Throws `rate_limited` for a line that is too long, `upstream` for an end in the middle of one.
 */
export function createFrameReader(): (data: unknown) => Frame[] {
  const lines = new LineReader();
  return (data) => {
    if (typeof data === "string") {
      return data
        .split(/\r?\n/)
        .flatMap((text, at, all) => lines.read(text, at < all.length - 1))
        .flatMap(toFrames);
    }
    const frames = toFrames(data);
    if (frames[0] === "end" && lines.isWithin) {
      throw new AppError("upstream", "The client's answer ended in the middle of an event.");
    }
    return frames;
  };
}

class LineReader {
  /** The pieces of a line that has begun; joined only when they may be whole. */
  #pieces: string[] = [];
  #length = 0;
  /** Its first characters. */
  #head = "";
  #isRead = 0;

  /** True in the middle of an event. */
  get isWithin(): boolean {
    return this.#head.slice(prefix.length).trimStart().startsWith("{");
  }

  /** The value of the line that `text` completes, if it does; `isEnd` when the line surely ends there. */
  read(text: string, isEnd: boolean): unknown[] {
    const hasBegun = this.#length > 0;
    this.#length += text.length;
    if (this.#length > maxLine) {
      throw new AppError("rate_limited", "A line of the client's answer is too long.");
    }
    this.#pieces.push(text);
    this.#head = (this.#head + text.slice(0, headLength)).slice(0, headLength);
    const value = this.#parse(text);
    if (value !== undefined) {
      this.#clear();
      return [value];
    }
    // A text that is cut may go on with this very prefix; one that does not become whole by it was given up.
    if (hasBegun && text.startsWith(prefix)) {
      this.#clear();
      return this.read(text, isEnd);
    }
    if (isEnd || !this.#isBegun()) {
      // Blank lines, comments and names of events say nothing.
      this.#clear();
    }
    return [];
  }

  #clear(): void {
    this.#pieces = [];
    this.#head = "";
    this.#length = this.#isRead = 0;
  }

  /** Whether the line may become an event. */
  #isBegun(): boolean {
    const head = this.#head;
    return head.startsWith(prefix)
      ? this.#length > headLength || head.slice(prefix.length).trim() !== "[DONE]"
      : head !== "" && prefix.startsWith(head);
  }

  /** Parsing a long line again with each of its pieces would block the event loop. */
  #parse(piece: string): unknown {
    const isNamed = this.#head.startsWith(prefix);
    if (!piece.trimEnd().endsWith("}") || !(isNamed || this.#head.startsWith("{"))) {
      return undefined;
    }
    this.#isRead += this.#length;
    if (this.#isRead > maxRead) {
      throw new AppError("rate_limited", "A line of the client's answer comes in too many pieces.");
    }
    const line = this.#pieces.join("");
    this.#pieces = [line];
    try {
      return parseJson(isNamed ? line.slice(prefix.length) : line);
    } catch {
      return undefined;
    }
  }
}

/** As many characters as tell what a line is. */
const headLength = 16;

function toFrames(value: unknown): Frame[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [];
  }
  return [(value as { done?: unknown }).done === true ? "end" : { item: value as Json }];
}
