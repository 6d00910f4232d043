import MiniSearch from "minisearch";
import type { Section } from "./sections.ts";

export interface Hit {
  readonly section: Section;
  readonly score: number;
}

/** Words without meaning for a search. */
const stopWords = new Set(
  "a an and are as at be but by can do does for from have how i if in is it me my of on or so tell that the their there this to was we what when where which who why will with you your".split(
    " ",
  ),
);

/**
 * A keyword search over the documentation's sections; headings weigh more than text. The index is built with the first
 * question, so that a start does not wait for it.
 */
export function createSearch(sections: readonly Section[]): (question: string, limit: number) => Hit[] {
  let index: MiniSearch<Section> | undefined;
  return (question, limit) =>
    (index ??= toIndex(sections))
      .search(question.slice(0, 2000))
      .slice(0, limit)
      .flatMap(({ id, score }) => {
        const section = sections[id as number];
        return section ? [{ section, score }] : [];
      });
}

function toIndex(sections: readonly Section[]): MiniSearch<Section> {
  const index = new MiniSearch<Section>({
    fields: ["heading", "text"],
    processTerm: (term) => {
      const word = term.toLowerCase();
      return stopWords.has(word) || word.length < 2 ? null : word;
    },
    searchOptions: { boost: { heading: 3 }, fuzzy: 0.15, prefix: true, combineWith: "OR" },
  });
  index.addAll(sections);
  return index;
}
