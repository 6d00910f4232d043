import type { Scored } from "./keyword.ts";

export interface Fused {
  readonly id: number;
  /** From 0 to 1. */
  readonly score: number;
  readonly keyword: number | undefined;
  readonly vector: number | undefined;
}

/**
 * The weighted sum of both methods: BM25 divided by its best score, and the cosine between its least (0) and greatest
 * (1). Ranks alone would give a weak embedder as much say as a good one.
 */
export function fuse(keyword: readonly Scored[], vector: readonly Scored[], keywordWeight: number): Fused[] {
  const best = Math.max(...keyword.map(({ score }) => score), Number.MIN_VALUE);
  const cosines = vector.map(({ score }) => score);
  const [least, greatest] = [Math.min(...cosines), Math.max(...cosines)];
  const byWord = new Map(keyword.map(({ id, score }) => [id, score]));
  const byMeaning = new Map(vector.map(({ id, score }) => [id, score]));
  // A method that found nothing has no say, or the other could not reach 1.
  const weight = vector.length === 0 ? 1 : keyword.length === 0 ? 0 : keywordWeight;
  return [...new Set([...byWord.keys(), ...byMeaning.keys()])]
    .map((id) => {
      const [word, meaning] = [byWord.get(id), byMeaning.get(id)];
      const words = (word ?? 0) / best;
      const near = meaning === undefined ? 0 : greatest > least ? (meaning - least) / (greatest - least) : 1;
      return { id, score: weight * words + (1 - weight) * near, keyword: word, vector: meaning };
    })
    .toSorted((a, b) => b.score - a.score || a.id - b.id);
}

/** What several questions found: the best of each passage counts. */
export function mergeBest(lists: readonly (readonly Fused[])[]): Fused[] {
  const merged = new Map<number, Fused>();
  for (const fused of lists.flat()) {
    const known = merged.get(fused.id);
    if (known === undefined || known.score < fused.score) {
      merged.set(fused.id, {
        ...fused,
        keyword: greater(known?.keyword, fused.keyword),
        vector: greater(known?.vector, fused.vector),
      });
    }
  }
  return [...merged.values()].toSorted((a, b) => b.score - a.score || a.id - b.id);
}

function greater(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.max(a, b);
}
