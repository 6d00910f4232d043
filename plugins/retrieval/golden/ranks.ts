import type { FoundPassage } from "../service.ts";
import type { Expected, GoldenRun, QuestionResult } from "./schema.ts";

/**
 * A passage answers when it shares half of the shorter one with an expected one: with other settings texts are cut anew
 * and neighbours joined, so a place is found in smaller and in larger passages.
 */
const leastShare = 0.5;

/** The place of the first passage that answers, from 1; null where none does. */
export function findRank(
  passages: readonly Pick<FoundPassage, "sourceId" | "fileId" | "start" | "end">[],
  expected: readonly Expected[],
): number | null {
  const at = passages.findIndex((passage) => expected.some((wanted) => isAnswer(passage, wanted)));
  return at < 0 ? null : at + 1;
}

function isAnswer(
  { sourceId, fileId, start, end }: Pick<FoundPassage, "sourceId" | "fileId" | "start" | "end">,
  wanted: Expected,
): boolean {
  const shared = Math.min(end, wanted.end) - Math.max(start, wanted.start);
  const isSame = wanted.source_id === sourceId || wanted.source_id === fileId;
  return isSame && shared >= Math.min(end - start, wanted.end - wanted.start) * leastShare;
}

interface Run {
  readonly k: number;
  readonly results: readonly QuestionResult[];
}

/** How many questions a run answered, and what is another way than in the run before. */
export function summarize({ k, results }: Run, before: Run | undefined) {
  const hits = results.filter(({ rank }) => rank !== null && rank <= k).length;
  return {
    hits,
    hit_rate: results.length === 0 ? null : hits / results.length,
    changes: before === undefined ? [] : compare(results, before.results),
  };
}

function compare(results: Run["results"], before: Run["results"]): GoldenRun["changes"] {
  const known = new Map(before.map(({ question_id: id, rank }) => [id, rank]));
  return results.flatMap(({ question_id: id, question, rank: now }) => {
    const then = known.get(id);
    return then === undefined || then === now ? [] : [{ question_id: id, question, before: then, now }];
  });
}
