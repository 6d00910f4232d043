import { setImmediate as nextTurn } from "node:timers/promises";

/** Measures a text in characters or tokens. */
export interface Ruler {
  /** The position `amount` units behind `from`, at most the text's end. */
  forward(from: number, amount: number): number;
  /** The position `amount` units before `from`, at least 0. */
  back(from: number, amount: number): number;
  /** Units between two positions. */
  between(from: number, to: number): number;
}

/** Counts UTF-16 units. */
export function characterRuler(text: string): Ruler {
  return {
    forward: (from, amount) => Math.min(text.length, from + amount),
    back: (from, amount) => Math.max(0, from - amount),
    between: (from, to) => to - from,
  };
}

const blockChars = 20_000;

/** Counts tokens of cl100k_base, the vocabulary whose counts appendix A4 means. */
export async function tokenRuler(text: string): Promise<Ruler> {
  // The vocabulary takes 0.2 s to load: only those who count tokens pay for it.
  const { encode, decodeGenerator } = await import("gpt-tokenizer/encoding/cl100k_base");
  const ends: number[] = [];
  for (let from = 0; from < text.length;) {
    const to = blockEnd(text, from);
    const tokens = encode(text.slice(from, to), { disallowedSpecial: new Set() });
    let at = from;
    for (const piece of decodeGenerator(tokens)) {
      at += piece.length;
      ends.push(Math.min(at, to));
    }
    from = to;
    await nextTurn();
  }
  const tokenAt = (position: number) => countBelow(ends, position);
  return {
    forward: (from, amount) => ends[tokenAt(from) + amount - 1] ?? text.length,
    back: (from, amount) => ends[tokenAt(from) - amount - 1] ?? 0,
    between: (from, to) => tokenAt(to) - tokenAt(from),
  };
}

/** Texts are encoded in blocks, so that a long one does not hold the event loop. */
function blockEnd(text: string, from: number): number {
  if (from + blockChars >= text.length) {
    return text.length;
  }
  const space = text.lastIndexOf(" ", from + blockChars);
  return space > from ? space : from + blockChars;
}

/** How many of the ascending numbers are at most `limit`. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) <= limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
