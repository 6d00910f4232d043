/** The part of a list or text that stays: its beginning, its end, or both without the middle. */
export type CutKind = "start" | "end" | "middletruncate";

export interface Cut {
  readonly kind: CutKind;
  readonly size: number;
}

/** At most `size` characters of a text; dots stand for a middle that is left out. Never halves a character. */
export function cutText(text: string, { kind, size }: Cut): string {
  if (text.length <= size) {
    return text;
  }
  const first = firstOf(kind, size);
  const parts = [startOf(text, first), endOf(text, size - first)];
  return parts.join(kind === "middletruncate" ? "..." : "");
}

/** At most `size` entries of a list. */
export function cutList<T>(list: readonly T[], { kind, size }: Cut): readonly T[] {
  if (list.length <= size) {
    return list;
  }
  const first = firstOf(kind, size);
  return [...list.slice(0, first), ...list.slice(list.length - (size - first))];
}

/**
 * A model's text as one safe line of at most `size` characters; longer lines end in an ellipsis. Only the beginning of a
 * long text is read.
 */
export function toLine(text: string, size: number): string {
  const line = toPlain(text.trimStart(), size * 8)
    .replaceAll(/\s+/g, " ")
    .trim();
  const characters = [...line];
  return characters.length <= size
    ? line
    : `${characters
        .slice(0, size - 1)
        .join("")
        .trimEnd()}…`;
}

/**
 * At most `size` characters of a model's text, without control characters (but line breaks and tabs), halved characters
 * and marks that change the direction of text.
 */
export function toPlain(text: string, size: number): string {
  return startOf(text, size)
    .toWellFormed()
    .replaceAll(/(?![\t\n\r])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, "");
}

function firstOf(kind: CutKind, size: number): number {
  return { start: size, end: 0, middletruncate: Math.ceil(size / 2) }[kind];
}

function startOf(text: string, size: number): string {
  const isHalved = size > 0 && size < text.length && isHigh(text.charCodeAt(size - 1));
  return text.slice(0, isHalved ? size - 1 : size);
}

function endOf(text: string, size: number): string {
  const from = text.length - size;
  return text.slice(size > 0 && from > 0 && isHigh(text.charCodeAt(from - 1)) ? from + 1 : from);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
