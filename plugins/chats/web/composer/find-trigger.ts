/** A character at the start of a word that opens a list, and what is typed behind it. */
export interface FoundTrigger {
  readonly character: string;
  readonly query: string;
  /** Where the text to be replaced begins and ends. */
  readonly start: number;
  readonly end: number;
}

const longestQuery = 60;

/** The list that the word before the cursor opens, if any. */
export function findTrigger(
  text: string,
  cursor: number,
  characters: readonly string[],
): FoundTrigger | undefined {
  const before = text.slice(Math.max(0, cursor - longestQuery - 1), cursor);
  const word = /\S*$/.exec(before)?.[0] ?? "";
  const start = cursor - word.length;
  const isWordStart = start === 0 || /\s/.test(text[start - 1] ?? "");
  const character = characters.find((one) => word.startsWith(one));
  return character !== undefined && isWordStart
    ? { character, query: word.slice(character.length), start, end: cursor }
    : undefined;
}
