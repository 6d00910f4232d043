import { type RetrievalSettings, toKeywordWeight } from "../config.ts";
import type { FoundPassage, Question, SearchResult, SearchSettings } from "../service.ts";
import type { Candidate, SearchParts } from "./parts.ts";
import { type Fused, fuse, mergeBest } from "./fuse.ts";
import { joinNeighbours, withoutCopies } from "./join.ts";
import { type Scored, searchKeywords } from "./keyword.ts";
import { type LoadedPassage, loadPassages } from "./passage-store.ts";
import { rerankCandidates } from "./rerank-candidates.ts";
import { type PlainScope, sizeOf, toPlainScope } from "./scope-sql.ts";
import { createTracer, type Tracer } from "./trace.ts";
import { createVectorSearch } from "./vector.ts";

/** Settings of one search, with those of the instance where it names none. */
export interface Wanted {
  readonly topK: number;
  readonly hybrid: boolean;
  readonly keywordWeight: number;
  readonly threshold: number;
  readonly rerank: boolean;
  readonly rerankTopK: number;
}

/** Passages that each method brings into the sum, for each question. */
const candidates = 100;
const maxQueries = 8;

/** Finds the passages that answer a question: words and meaning, summed, reranked, cut and joined. */
export function createSearch(parts: SearchParts): (question: Question) => Promise<SearchResult> {
  const searchVectors = createVectorSearch(parts);

  async function gather(question: Question, wanted: Wanted, tracer: Tracer): Promise<Fused[]> {
    const scope = toPlainScope(question.scope);
    const { passages, languages } = await sizeOf(parts.db, scope);
    const queries = question.queries.filter((query) => query.trim() !== "").slice(0, maxQueries);
    if (passages === 0 || queries.length === 0) {
      return [];
    }
    // Words are looked up while the questions are embedded.
    const [words, near] = await Promise.all([
      wanted.hybrid ? byWords({ scope, queries, languages }, tracer) : queries.map(() => []),
      searchVectors(
        { scope, queries, expected: passages, limit: candidates, signal: question.signal },
        tracer,
      ),
    ]);
    // Without vectors words are better than nothing.
    const found =
      !wanted.hybrid && near === undefined ? await byWords({ scope, queries, languages }, tracer) : words;
    const both = await near?.compare(found);
    const fused = mergeBest(
      queries.map((_, at) => fuse(found[at] ?? [], both?.[at] ?? [], wanted.keywordWeight)),
    );
    tracer.list("keyword", mergeScored(found));
    tracer.list("vector", mergeScored(near?.found ?? []));
    tracer.list("fused", fused);
    return fused;
  }

  function byWords(
    { scope, queries, languages }: { scope: PlainScope; queries: readonly string[]; languages: string[] },
    tracer: Tracer,
  ): Promise<Scored[][]> {
    return tracer.time("keyword", () =>
      Promise.all(
        queries.map((query) => searchKeywords(parts.db, { scope, query, languages, limit: candidates })),
      ),
    );
  }

  return async (question) => {
    const wanted = toWanted(question.settings ?? {}, parts.settings);
    const tracer = createTracer(question.explain ?? false);
    const fused = await gather(question, wanted, tracer);
    // More than the result has room for: copies fall out, and a reranker needs a choice.
    const considered = fused.slice(0, Math.max(wanted.topK * 4, 20));
    const loaded = await loadPassages(
      parts.db,
      considered.map(({ id }) => id),
    );
    const all = considered.flatMap((entry) => {
      const passage = loaded.get(entry.id);
      return passage === undefined ? [] : [toCandidate(passage, entry)];
    });
    const { kept, copies } = withoutCopies(all);
    tracer.cut(copies, "the same words stand higher");
    const ranked = wanted.rerank
      ? await rerankCandidates(parts, {
          kept,
          query: question.queries[0] ?? "",
          signal: question.signal,
          tracer,
        })
      : undefined;
    const order = ranked ?? kept;
    const good = order.filter(({ score }) => score >= wanted.threshold);
    tracer.cut(
      order.filter(({ score }) => score < wanted.threshold),
      "below the threshold",
    );
    const room = ranked === undefined ? wanted.topK : Math.min(wanted.topK, wanted.rerankTopK);
    tracer.cut(good.slice(room), "beyond the number of passages");
    const passages = joinNeighbours(good.slice(0, room)).map(toFound);
    return { passages, trace: await tracer.finish((ids) => loadPassages(parts.db, ids)) };
  };
}

function toWanted(given: SearchSettings, settings: RetrievalSettings): Wanted {
  return {
    topK: given.topK ?? settings.topK,
    hybrid: given.hybrid ?? settings.hybrid,
    keywordWeight: given.keywordWeight ?? toKeywordWeight(settings),
    threshold: given.threshold ?? settings.threshold,
    rerank: (given.rerank ?? true) && settings.rerankEngine !== "" && settings.rerankUrl !== "",
    rerankTopK: given.rerankTopK ?? settings.rerankTopK,
  };
}

function toCandidate(passage: LoadedPassage, { score, keyword, vector }: Fused): Candidate {
  return {
    ...passage,
    score,
    scores: {
      ...(keyword === undefined ? {} : { keyword }),
      ...(vector === undefined ? {} : { vector }),
    },
  };
}

function toFound({ key: _key, position: _position, part: _part, ...passage }: Candidate): FoundPassage {
  return passage;
}

/** The best score of each passage over all questions. */
function mergeScored(lists: readonly (readonly Scored[])[]): Scored[] {
  const best = new Map<number, number>();
  for (const { id, score } of lists.flat()) {
    best.set(id, Math.max(best.get(id) ?? -Infinity, score));
  }
  return [...best].map(([id, score]) => ({ id, score })).toSorted((a, b) => b.score - a.score);
}
