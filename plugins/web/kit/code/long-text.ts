/** Characters that are shown of an output before somebody asks for all. */
export const shortText = 50_000;

/** The beginning of a text, up to the end of a line where there is one. */
export function cutText(text: string): string {
  if (text.length <= shortText) {
    return text;
  }
  const end = text.lastIndexOf("\n", shortText);
  return text.slice(0, end > 0 ? end : shortText).toWellFormed();
}

/** A text in pieces of whole lines, each small enough to be laid out at once. */
export function toPieces(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const limit = at + shortText;
    const newline = limit < text.length ? text.lastIndexOf("\n", limit) : -1;
    const end = limit >= text.length ? text.length : newline > at ? newline + 1 : limit;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}
