import type { TextPlace } from "#plugins/files/service.ts";

/** A span of a file's text, in UTF-16 units; `end` is behind its last one. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A piece of the text that is shown as one block, with the place that begins there. */
export interface Piece extends Span {
  readonly place: TextPlace | undefined;
}

const longestPiece = 20_000;

/** Cuts a text at its places, and long stretches between them at ends of lines, so that a page shows a part of a long text. */
export function toPieces(text: string, places: readonly TextPlace[]): Piece[] {
  const starts = new Map(
    places.filter(({ start }) => start < text.length).map((place) => [place.start, place]),
  );
  const borders = [...new Set([0, ...starts.keys()])].toSorted((one, other) => one - other);
  return borders.flatMap((start, index) =>
    split(text, { start, end: borders[index + 1] ?? text.length }, starts.get(start)),
  );
}

function split(text: string, { start, end }: Span, place: TextPlace | undefined): Piece[] {
  const pieces: Piece[] = [];
  for (let at = start; at < end;) {
    const limit = Math.min(at + longestPiece, end);
    const line = limit < end ? text.lastIndexOf("\n", limit) + 1 : limit;
    const next = line > at ? line : limit;
    pieces.push({ start: at, end: next, place: at === start ? place : undefined });
    at = next;
  }
  return pieces;
}

/** The passage that an address names: `?start=120&end=180` in the text, or `?page=3` for the text of a page. */
export function readPassage(search: string, text: string, places: readonly TextPlace[]): Span | undefined {
  const query = new URLSearchParams(search);
  const start = toCount(query.get("start") ?? query.get("at"));
  if (start !== undefined && start < text.length) {
    const end = toCount(query.get("end"));
    return { start, end: Math.min(end !== undefined && end > start ? end : start + 1, text.length) };
  }
  const page = toCount(query.get("page"));
  const at = places.find((place) => page !== undefined && place.page === page);
  return at && { start: at.start, end: at.start };
}

function toCount(value: string | null): number | undefined {
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

/** The place in which a position stands. */
export function placeAt(places: readonly TextPlace[], position: number): TextPlace | undefined {
  return places.findLast(({ start }) => start <= position);
}

/** A piece in the parts before, within and behind a passage. */
export function cutAt(
  text: string,
  piece: Span,
  passage: Span | undefined,
): readonly [string, string, string] {
  const whole = text.slice(piece.start, piece.end);
  if (passage === undefined || passage.end <= piece.start || passage.start >= piece.end) {
    return [whole, "", ""];
  }
  const from = Math.max(passage.start - piece.start, 0);
  const to = Math.min(passage.end - piece.start, whole.length);
  return [whole.slice(0, from), whole.slice(from, to), whole.slice(to)];
}
