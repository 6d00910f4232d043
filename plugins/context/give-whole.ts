import type { ContextRun, Source } from "#plugins/completions/service.ts";
import type { Collected } from "./collect.ts";
import { type Giving, readableCollections } from "./give-passages.ts";
import { textOf } from "./read-files.ts";
import { wholeSource, storedText, type WholeText } from "./sources.ts";

/** Whole texts, each as far as the model's context has room. */
export async function giveWhole(
  run: ContextRun,
  { files, collections, texts }: Collected,
  { parts, budget, onProblem }: Giving,
): Promise<Source[]> {
  const { retrieval } = parts;
  const allWhole = retrieval === undefined || parts.givesWhole();
  const own = files
    .filter(({ isWhole }) => isWhole || allWhole)
    .map(({ file }): WholeText => ({
      id: file.id,
      type: "file",
      name: file.filename,
      content: textOf(file),
      isCut: false,
    }));
  const listed = collections.filter(({ isWhole }) => isWhole || allWhole);
  const names =
    retrieval === undefined ? [] : await readableCollections(run, listed, { retrieval, onProblem });
  const stored =
    retrieval === undefined || names.length === 0
      ? []
      : await retrieval.texts(await retrieval.scope(run.principal, { collections: names }), budget.chars);
  const all = [...own, ...texts, ...stored.map((text) => storedText(text))];
  const sources: Source[] = [];
  for (const text of all) {
    const content = budget.cut(text.content);
    const isCut = text.isCut || content.length < text.content.length;
    if (content === "") {
      onProblem(`“${text.name}” did not fit the model's context.`);
    } else {
      sources.push(wholeSource({ ...text, content, isCut }));
      if (isCut) {
        onProblem(`“${text.name}” is too long for the model's context: it was given the beginning.`);
      }
    }
  }
  return sources;
}
