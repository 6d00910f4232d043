/** The first characters of a text, counted as the checks of inputs count them: no emoji is cut in half. */
export const firstCharacters = (text: string, most: number): string =>
  // Twice as many units hold them for certain, and a megabyte is not taken apart.
  Array.from(text.slice(0, most * 2))
    .slice(0, most)
    .join("");
