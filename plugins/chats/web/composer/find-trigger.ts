/** A character at the start of a word that opens a list, and what is typed behind it. */
export interface FoundTrigger {
  readonly character: string;
  readonly query: string;
  /** Where the text to be replaced begins and ends. */
  readonly start: number;
  readonly end: number;
}

const longestName = 60;
/** Addresses are longer than names. */
const longestAddress = 500;
const address = /^.https?:/i;

/** The list that the word before the cursor opens, if any. */
export function findTrigger(
  text: string,
  cursor: number,
  characters: readonly string[],
): FoundTrigger | undefined {
  const start = wordStart(text, cursor);
  const character = characters.find((one) => text.startsWith(one, start));
  if (start >= cursor || character === undefined) {
    return undefined;
  }
  const word = text.slice(start, cursor);
  return word.length <= longestName || address.test(word)
    ? { character, query: word.slice(character.length), start, end: cursor }
    : undefined;
}

/** Where the word begins that the cursor stands behind; the cursor itself for words that are too long. */
function wordStart(text: string, cursor: number): number {
  for (let at = cursor; at > cursor - longestAddress; at -= 1) {
    if (at === 0 || /\s/.test(text[at - 1] as string)) {
      return at;
    }
  }
  return cursor;
}
