/** The kinds of places that a text is cut at: `AUDIO_TTS_SPLIT_ON`. */
export type SplitOn = "punctuation" | "paragraphs" | "none";

/** Shorter pieces wait for the next one: each piece is a request of its own, and "1." is no sentence. */
const leastLength = 12;
const fence = /^\s{0,3}(?:```|~~~)/;

/**
 * Cuts the growing Markdown of a reply into what is said, piece by piece. What was read is not read again, so the work
 * for a piece does not grow with the reply.
 */
export class SentenceReader {
  readonly #splitOn: SplitOn;
  readonly #segmenter: Intl.Segmenter;
  #at = 0;
  #isInFence = false;
  #started = "";

  constructor(splitOn: SplitOn, locale?: string) {
    this.#splitOn = splitOn;
    this.#segmenter = new Intl.Segmenter(locale, { granularity: "sentence" });
  }

  /** The pieces that `text` has beyond what earlier calls returned; the last one only when it `isComplete`. */
  read(text: string, isComplete: boolean): string[] {
    const rest = text.slice(this.#at);
    const segments = this.#cut(rest);
    const open = isComplete ? undefined : segments.pop();
    this.#at += rest.length - (open?.length ?? 0);
    const pieces = segments.flatMap((segment) => this.#take(segment));
    if (isComplete) {
      pieces.push(...this.#flush());
    }
    return pieces;
  }

  #cut(text: string): string[] {
    if (this.#splitOn === "punctuation") {
      return [...this.#segmenter.segment(text)].map(({ segment }) => segment);
    }
    return this.#splitOn === "none" ? [text] : text.split(/(?<=\n[ \t]*\n)/);
  }

  #take(segment: string): string[] {
    const spoken = this.#withoutFences(segment);
    if (spoken === "") {
      return [];
    }
    this.#started = `${this.#started} ${spoken}`.trim();
    return this.#started.length < leastLength ? [] : this.#flush();
  }

  #flush(): string[] {
    const piece = this.#started;
    this.#started = "";
    return piece === "" ? [] : [piece];
  }

  #withoutFences(segment: string): string {
    const lines = segment.split("\n").filter((line) => {
      const isFence = fence.test(line);
      this.#isInFence = isFence ? !this.#isInFence : this.#isInFence;
      return !isFence && !this.#isInFence;
    });
    return toSpoken(lines.join("\n"));
  }
}

/** Without what is written to be seen: marks, addresses, pictures, citations; "" where nothing can be said. */
export function toSpoken(markdown: string): string {
  const text = markdown
    .replaceAll(/!\[[^[\]]{0,500}\]\([^()]{0,2000}\)/g, " ")
    .replaceAll(/\[([^[\]]{0,500})\]\([^()]{0,2000}\)/g, "$1")
    .replaceAll(/\[\d{1,4}(?:,\s?\d{1,4}){0,9}\]/g, "")
    .replaceAll(/https?:\/\/\S{1,2000}/g, " ")
    .replaceAll(/^\s{0,12}(?:#{1,6}\s|>\s?|[-*+]\s|[-*_]{3,}$)/gm, "")
    .replaceAll(/[*_`~]+/g, "")
    .replaceAll(/\|/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /[\p{L}\p{N}]/u.test(text) ? text : "";
}
