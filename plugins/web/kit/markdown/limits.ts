/** Lines beyond this are shown as they are: expressions of any parser take too long for them. */
export const longestLine = 10_000;
/** Deeper nesting than anybody writes; parsers recurse. */
const deepestNesting = 60;
/** What is read at once of a text that is there already. */
const mostAtOnce = 32_000;

/** The next piece of a text that a parser may read. */
export interface Piece {
  readonly text: string;
  /** It begins with a line that is shown as it is; `text` is that line or a part of it. */
  readonly isPlain: boolean;
  /** A line that is shown as it is follows, so nothing more belongs to the blocks of this piece. */
  readonly isCut: boolean;
}

export function nextPiece(rest: string): Piece {
  const most = Math.min(rest.length, mostAtOnce);
  for (let begin = 0; begin < most;) {
    const found = rest.indexOf("\n", begin);
    const end = found < 0 ? rest.length : found;
    if (end - begin > longestLine || depthOf(rest.slice(begin, end)) > deepestNesting) {
      return begin === 0
        ? { text: toPart(rest.slice(0, end + 1)), isPlain: true, isCut: false }
        : { text: rest.slice(0, begin), isPlain: false, isCut: true };
    }
    begin = end + 1;
  }
  const cut = rest.length > mostAtOnce ? rest.lastIndexOf("\n", mostAtOnce) + 1 : rest.length;
  return { text: rest.slice(0, cut), isPlain: false, isCut: false };
}

/** A part of a line that no browser minds to lay out; pairs of surrogates stay together. */
export function toPart(line: string): string {
  const end = line.length > longestLine ? longestLine - 1 : line.length;
  const isPair = end < line.length && /[\ud800-\udbff]/.test(line[end - 1] ?? "");
  return line.slice(0, isPair ? end + 1 : end);
}

/** Marks of quotes and lists, and spaces, in front of what a line says. */
function depthOf(line: string): number {
  const marks = /^(?:[ \t]|>|[-*+](?= )|\d{1,9}[.)](?= ))*/.exec(line)?.[0] ?? "";
  return marks.replaceAll(/\s{2}/g, ">").replaceAll(/\s/g, "").length;
}
