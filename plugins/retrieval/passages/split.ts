import { setImmediate as nextTurn } from "node:timers/promises";
import type { TextPlace } from "#plugins/files/service.ts";
import { characterRuler, type Ruler, tokenRuler } from "./ruler.ts";
import { joinSmall, type Section, toSections } from "./sections.ts";

export interface SplitOptions {
  readonly unit: "character" | "token";
  /** In units; as CHUNK_SIZE, CHUNK_OVERLAP and CHUNK_MIN_SIZE_TARGET. */
  readonly size: number;
  readonly overlap: number;
  readonly minSize: number;
  /** True when `#` lines of the text are headings. */
  readonly hasHeadings: boolean;
}

/** A passage of a text: `content` is exactly the characters from `start` to `end`. */
export interface Piece {
  readonly content: string;
  readonly start: number;
  readonly end: number;
  readonly place: TextPlace | undefined;
  readonly headings: readonly string[];
}

const turnMs = 8;

/** Cuts a text into passages (appendix A4), giving the event loop its turns. Passages without a letter are left out. */
export async function split(
  text: string,
  places: readonly TextPlace[],
  options: SplitOptions,
): Promise<Piece[]> {
  const ruler = options.unit === "token" ? await tokenRuler(text) : characterRuler(text);
  const sections = joinSmall(
    toSections(text, places, options.hasHeadings),
    { minimum: options.minSize, maximum: options.size },
    ruler.between,
  );
  const pieces: Piece[] = [];
  let turnAt = performance.now() + turnMs;
  for (const section of sections) {
    for (const piece of splitSection(text, section, { ...options, ruler })) {
      pieces.push(piece);
      if (performance.now() > turnAt) {
        await nextTurn();
        turnAt = performance.now() + turnMs;
      }
    }
  }
  return pieces;
}

interface Sizes {
  readonly ruler: Ruler;
  readonly size: number;
  readonly overlap: number;
}

function* splitSection(text: string, section: Section, { ruler, size, overlap }: Sizes): Generator<Piece> {
  // An overlap of half a passage is the most with which each brings enough that is new.
  const repeated = Math.min(overlap, Math.floor(size / 2));
  for (let from = section.start; from < section.end;) {
    const limit = Math.min(section.end, Math.max(from + 1, ruler.forward(from, size)));
    const end =
      limit === section.end ? limit : findBorder(text, ruler.forward(from, Math.ceil(size / 2)), limit);
    const piece = trim(text, from, end);
    if (piece !== undefined) {
      yield { ...piece, place: section.place, headings: section.headings };
    }
    from = end === section.end ? end : Math.max(from + 1, findStart(text, ruler.back(end, repeated), end));
  }
}

/** From the best to the worst: paragraphs, lines, sentences, words. */
const borders = [["\n\n"], ["\n"], [". ", "! ", "? ", "。", "！", "？"], [" ", "\t", "、", "，"]];

/** Where a passage that may end between `earliest` and `latest` ends best. */
function findBorder(text: string, earliest: number, latest: number): number {
  // A text without such a mark would be read to its beginning for each passage. A mark may lie across `earliest`.
  const first = Math.max(0, earliest - 1);
  const window = text.slice(first, latest);
  for (const marks of borders) {
    const ends = marks.map((mark) => {
      const at = window.lastIndexOf(mark);
      return at < 0 ? -1 : first + at + mark.length;
    });
    const best = Math.max(...ends);
    if (best > earliest) {
      return best;
    }
  }
  return isSecondHalf(text, latest) ? latest - 1 : latest;
}

/** The first sentence, else word, that begins at or behind `near`. */
function findStart(text: string, near: number, end: number): number {
  const window = text.slice(0, end);
  for (const marks of borders.slice(1)) {
    const starts = marks.flatMap((mark) => {
      const at = window.indexOf(mark, Math.max(0, near - mark.length));
      return at < 0 || at + mark.length >= end ? [] : [at + mark.length];
    });
    if (starts.length > 0) {
      return Math.min(...starts);
    }
  }
  return isSecondHalf(text, near) ? near + 1 : near;
}

function isSecondHalf(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

const hasWord = /[\p{L}\p{N}]/u;

function trim(text: string, from: number, to: number): Pick<Piece, "content" | "start" | "end"> | undefined {
  const raw = text.slice(from, to);
  const content = raw.trim();
  if (!hasWord.test(content)) {
    return undefined;
  }
  const start = from + raw.length - raw.trimStart().length;
  return { content, start, end: start + content.length };
}
