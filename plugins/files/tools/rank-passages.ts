import { setImmediate as nextTurn } from "node:timers/promises";
import type { Passage } from "../service.ts";

export interface Ranking {
  readonly query: string;
  readonly count: number;
  readonly signal: AbortSignal;
}

interface Counted {
  readonly fileId: string;
  readonly content: string;
  /** How often each word occurs. */
  readonly counts: readonly number[];
}

const passageChars = 1_200;
/** A passage begins this much before the end of the one before it, so that no sentence is torn in both. */
const overlap = 150;
const turnMs = 10;
/** The constants of BM25 that literature recommends. */
const [saturation, lengthWeight] = [1.2, 0.75];
/** Passages with a hit that are kept for ranking; a word that is in more of them tells little. */
const maxHits = 20_000;

/**
 * The passages that hold the words of a query, ranked by BM25. Words count from their beginning on, so that endings
 * do not matter. Texts are read once and no index is built: each is searched for one question.
 */
export async function rankPassages(
  texts: AsyncIterable<{ readonly fileId: string; readonly text: string }>,
  { query, count, signal }: Ranking,
): Promise<Passage[]> {
  const words = toWords(query);
  const hits: Counted[] = [];
  const seen = { passages: 0, chars: 0 };
  let turnAt = performance.now() + turnMs;
  for await (const { fileId, text } of texts) {
    for (const content of toPassages(text)) {
      seen.passages += 1;
      seen.chars += content.length;
      const counts = countWords(content.toLowerCase(), words);
      if (counts.some((found) => found > 0) && hits.length < maxHits) {
        hits.push({ fileId, content: content.trim(), counts });
      }
      if (performance.now() > turnAt) {
        await nextTurn();
        signal.throwIfAborted();
        turnAt = performance.now() + turnMs;
      }
    }
  }
  return rank(hits, words.length, seen).slice(0, count);
}

function rank(hits: readonly Counted[], words: number, seen: { passages: number; chars: number }): Passage[] {
  const average = seen.chars / Math.max(1, seen.passages);
  const weights = Array.from({ length: words }, (_, word) => {
    const holding = hits.filter(({ counts }) => (counts[word] as number) > 0).length;
    return Math.log(1 + (seen.passages - holding + 0.5) / (holding + 0.5));
  });
  const scored = hits.map(({ fileId, content, counts }) => {
    const norm = saturation * (1 - lengthWeight + lengthWeight * (content.length / average));
    const score = counts.reduce(
      (sum, found, word) => sum + ((weights[word] as number) * found * (saturation + 1)) / (found + norm),
      0,
    );
    return { fileId, content, score };
  });
  // No passage can have more than every word endlessly often.
  const best = weights.reduce((sum, weight) => sum + weight * (saturation + 1), 0);
  return scored
    .toSorted((a, b) => b.score - a.score)
    .map((passage) => ({ ...passage, score: best > 0 ? Math.min(1, passage.score / best) : 0 }));
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const maxWords = 32;

function toWords(query: string): string[] {
  const words = [...segmenter.segment(query.toLowerCase())].filter(({ isWordLike }) => isWordLike);
  return [...new Set(words.map(({ segment }) => segment))].slice(0, maxWords);
}

const letter = /[\p{L}\p{N}]/u;
/** Scripts that are written without spaces: there a word begins anywhere. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

function countWords(text: string, words: readonly string[]): number[] {
  return words.map((word) => {
    const isFree = unspaced.test(word);
    let found = 0;
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      found += isFree || at === 0 || !letter.test(text[at - 1] as string) ? 1 : 0;
    }
    return found;
  });
}

/** Pieces of a text that end where a paragraph, a line or a sentence does, if one does near their end. */
export function* toPassages(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    const end = from + passageChars >= text.length ? text.length : findBorder(text, from + passageChars);
    yield text.slice(from, end);
    from = end === text.length ? end : Math.max(from + 1, end - overlap);
  }
}

const borders = ["\n\n", "\n", ". ", "。", " "];

function findBorder(text: string, near: number): number {
  const earliest = near - Math.floor(passageChars / 3);
  for (const border of borders) {
    const at = text.lastIndexOf(border, near - border.length);
    if (at > earliest) {
      return at + border.length;
    }
  }
  return near;
}
