export interface TextPiece {
  readonly text: string;
  readonly isHit: boolean;
}

/** What was typed, without `tag:` and its like and without quotes and exclusions. */
export function searchWords(query: string): string[] {
  return (
    query
      .replaceAll(/(?<=^|\s)(tag|folder|pinned|archived|shared):(?:"[^"]*"|\S*)/gi, " ")
      .replaceAll(/(?<=^|\s)-\S+/g, " ")
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  );
}

/** A long text from shortly before its first hit, so that one line shows it. */
export function aroundHit(text: string, words: readonly string[]): string {
  const [before, hit] = highlight(text, words);
  const lead = 24;
  if (!before || before.isHit || !hit || before.text.length <= lead) {
    return text;
  }
  const from = text.indexOf(" ", before.text.length - lead);
  return `…${text.slice(from < 0 || from >= before.text.length ? before.text.length : from + 1)}`;
}

/** Cuts a text where one of the words begins a word of it. */
export function highlight(text: string, words: readonly string[]): TextPiece[] {
  if (words.length === 0) {
    return [{ text, isHit: false }];
  }
  const longestFirst = words.toSorted((a, b) => b.length - a.length);
  const hit = new RegExp(`(?<![\\p{L}\\p{N}])(?:${longestFirst.join("|")})`, "giu");
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(hit)) {
    if (match.index > end) {
      pieces.push({ text: text.slice(end, match.index), isHit: false });
    }
    end = match.index + match[0].length;
    pieces.push({ text: match[0], isHit: true });
  }
  return end < text.length ? [...pieces, { text: text.slice(end), isHit: false }] : pieces;
}
