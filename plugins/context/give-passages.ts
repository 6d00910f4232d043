import { AppError } from "#kernel/errors.ts";
import type { ContextRun, Source } from "#plugins/completions/service.ts";
import type { Retrieval } from "#plugins/retrieval/service.ts";
import type { Budget } from "./budget.ts";
import type { Collected } from "./collect.ts";
import type { ContextParts, OnProblem } from "./parts.ts";
import { toQueries } from "./questions.ts";
import { fromPassages, wholeSource, storedText } from "./sources.ts";

export interface Giving {
  readonly parts: ContextParts;
  readonly budget: Budget;
  readonly onProblem: OnProblem;
}

/** Passages come before whole texts: they were chosen for the question, and a long text must not push them out. */
export async function givePassages(
  run: ContextRun,
  { files, collections }: Collected,
  { parts, budget, onProblem }: Giving,
): Promise<Source[]> {
  const { retrieval, log } = parts;
  if (retrieval === undefined || parts.givesWhole()) {
    return [];
  }
  const fileIds = files.filter(({ isWhole }) => !isWhole).map(({ file }) => file.id);
  const asked = collections.filter(({ isWhole }) => !isWhole);
  const names = await readableCollections(run, asked, { retrieval, onProblem });
  if (fileIds.length + names.length === 0) {
    return [];
  }
  const queries = await toQueries(run, { writer: parts.writer, log });
  run.onStatus({
    action: "knowledge_search",
    description: "Searching files and collections",
    query: queries[0] ?? "",
    done: false,
    hidden: false,
  });
  try {
    const scope = await retrieval.scope(run.principal, { files: fileIds, collections: names });
    const { passages } = await retrieval.search({ scope, queries, signal: run.signal });
    const fitting = passages.filter(({ content }) => budget.takes(content));
    if (fitting.length < passages.length) {
      onProblem(
        `${passages.length - fitting.length} of ${passages.length} passages did not fit the model's context.`,
      );
    }
    if (fitting.length > 0) {
      return fromPassages(fitting);
    }
    // Questions such as "sum this up" hold no word of the text: its beginning says more than nothing.
    const beginnings = await retrieval.texts(scope, Math.min(budget.chars, beginningChars));
    return beginnings.map((text) => wholeSource(storedText(text, budget)));
  } catch (error) {
    run.signal.throwIfAborted();
    log.warn({ err: error }, "files could not be searched for a question");
    onProblem("Your files could not be searched just now, so this reply was written without them.");
    return [];
  }
}

/** Characters of beginnings that stand in for passages where none fits. */
const beginningChars = 6_000;

/** Names of the collections that may be read now; what may not is told. */
export async function readableCollections(
  { principal, signal }: ContextRun,
  asked: Collected["collections"],
  { retrieval, onProblem }: { readonly retrieval: Retrieval; readonly onProblem: OnProblem },
): Promise<string[]> {
  const found = await Promise.all(
    asked.map(async ({ names, name }) => {
      try {
        return (await retrieval.scope(principal, { collections: names })).collections;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof AppError)) {
          throw error;
        }
        onProblem(`“${name}” is gone, or may not be read by you any more.`);
        return [];
      }
    }),
  );
  return [...new Set(found.flat())];
}
