/** Options in which every word of the query occurs, in any spelling of letters; those that begin with it come first. */
export function findOptions<Option extends { readonly value: string; readonly label: string }>(
  options: readonly Option[],
  query: string,
): readonly Option[] {
  const words = fold(query)
    .split(/[\s_/]+/)
    .filter(Boolean);
  const [first] = words;
  if (first === undefined) {
    return options;
  }
  const found = options.filter(({ value, label }) => {
    const text = fold(`${label} ${value}`);
    return words.every((word) => text.includes(word));
  });
  const begins = ({ label }: Option) =>
    fold(label)
      .split(/[\s_/]+/)
      .some((part) => part.startsWith(first));
  return [...found.filter((option) => begins(option)), ...found.filter((option) => !begins(option))];
}

const fold = (text: string): string => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
