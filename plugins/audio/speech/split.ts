export type SplitOn = "punctuation" | "paragraphs" | "none";

/** Characters below which a sentence is spoken together with the next one: engines sound abrupt on single words. */
const shortest = 60;

const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

/**
 * Cuts a text into pieces that are spoken one behind the other, none longer than `most` UTF-16 units. Pieces hold no
 * blank ends; blank texts have none.
 */
export function splitText(text: string, splitOn: SplitOn, most: number): string[] {
  return merge(cut(text, splitOn), splitOn === "none" ? 0 : shortest, most).flatMap((piece) =>
    fit(piece, most),
  );
}

function cut(text: string, splitOn: SplitOn): string[] {
  if (splitOn === "none") {
    return clean([text]);
  }
  const paragraphs = clean(text.split(/\n\s*\n/));
  return splitOn === "paragraphs"
    ? paragraphs
    : paragraphs
        .flatMap((paragraph) => paragraph.split("\n"))
        .flatMap((line) => clean([...sentences.segment(line)].map(({ segment }) => segment)));
}

/** Joins short pieces with those behind them. */
function merge(pieces: readonly string[], least: number, most: number): string[] {
  const merged: string[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (last !== undefined && last.length < least && last.length + piece.length < most) {
      merged[merged.length - 1] = `${last} ${piece}`;
    } else {
      merged.push(piece);
    }
  }
  return merged;
}

/** Cuts a piece that is too long at its last blank or mark before the limit, and never within a character. */
function fit(piece: string, most: number): string[] {
  const pieces: string[] = [];
  let rest = piece;
  while (rest.length > most) {
    const head = rest.slice(0, most);
    const found = /^[^]*[\s.,;:!?…、。，；！？]/.exec(head)?.[0].length ?? 0;
    const at = found > most / 2 ? found : most - (isLeadingHalf(head) ? 1 : 0);
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return clean([...pieces, rest]);
}

function isLeadingHalf(head: string): boolean {
  const last = head.charCodeAt(head.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

function clean(pieces: readonly string[]): string[] {
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== "");
}
