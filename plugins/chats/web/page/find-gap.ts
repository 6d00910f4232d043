/** The part of a prompt that a person fills in. */
export interface Gap {
  readonly start: number;
  readonly end: number;
}

/** Code fences with nothing between them, a placeholder in brackets, or an end that announces a text. */
const gaps: readonly RegExp[] = [
  /(?<=(?:^|\n)(?:```|~~~)[^\n`~]*\n)(?=\s*(?:```|~~~))/,
  /\[[^\]\n]{1,80}\](?!\()/,
  /(?<=:\s*)$/,
];

/** Where a prompt waits for a text of the person; undefined for one that is whole. */
export function findGap(prompt: string): Gap | undefined {
  const found = gaps.map((gap) => gap.exec(prompt)).find((match) => match !== null);
  return found ? { start: found.index, end: found.index + found[0].length } : undefined;
}
