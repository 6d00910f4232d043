import type { DataQuestion } from "./data-sets.ts";

/** One answered question: ids of documents, best first and each once, and the characters a model would be given. */
export interface Answered {
  readonly question: DataQuestion;
  readonly found: readonly string[];
  readonly promptChars: number;
  readonly ms: number;
}

export interface Measures {
  /** Share of questions whose first, or one of whose first five, documents is relevant. */
  readonly hit1: number;
  readonly hit5: number;
  readonly ndcg10: number;
  /** Mean characters of five passages. */
  readonly promptChars: number;
  /** Median milliseconds. */
  readonly ms: number;
}

/** Measures answers as the field does: hit@k, nDCG@10. */
export function measure(answers: readonly Answered[]): Measures {
  const mean = (of: (answer: Answered) => number) =>
    answers.reduce((sum, answer) => sum + of(answer), 0) / Math.max(1, answers.length);
  const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return {
    hit1: mean((answer) => hit(answer, 1)),
    hit5: mean((answer) => hit(answer, 5)),
    ndcg10: mean(ndcg10),
    promptChars: mean(({ promptChars }) => promptChars),
    ms: times[Math.floor(times.length / 2)] ?? 0,
  };
}

const hit = ({ found, question: { relevant } }: Answered, k: number) =>
  found.slice(0, k).some((id) => (relevant.get(id) ?? 0) > 0) ? 1 : 0;

function ndcg10({ found, question: { relevant } }: Answered): number {
  const gain = (scores: readonly number[]) =>
    scores.slice(0, 10).reduce((sum, score, rank) => sum + (2 ** score - 1) / Math.log2(rank + 2), 0);
  const ideal = gain([...relevant.values()].toSorted((a, b) => b - a));
  return ideal === 0 ? 0 : gain(found.map((id) => relevant.get(id) ?? 0)) / ideal;
}
