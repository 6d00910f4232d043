import { AppError } from "#kernel/errors.ts";
import { rerank } from "./rerank.ts";
import type { Candidate, SearchParts } from "./parts.ts";
import type { Tracer } from "./trace.ts";

/** Orders candidates by the reranking server; undefined where it does not answer, and the order stays. */
export async function rerankCandidates(
  { egress, settings, log }: SearchParts,
  given: { kept: readonly Candidate[]; query: string; signal: AbortSignal; tracer: Tracer },
): Promise<Candidate[] | undefined> {
  const { kept, query, signal, tracer } = given;
  if (kept.length === 0) {
    return undefined;
  }
  try {
    const documents = kept.map(({ content }) => content);
    const scores = await tracer.time("rerank", () => rerank(egress, settings, { query, documents, signal }));
    const ranked = kept
      .flatMap((candidate, at) => {
        const score = scores[at];
        return score === undefined
          ? []
          : [{ ...candidate, score, scores: { ...candidate.scores, rerank: score } }];
      })
      .toSorted((a, b) => b.score - a.score);
    tracer.list(
      "reranked",
      ranked.map(({ key, score }) => ({ id: key, score })),
    );
    return ranked;
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error }, "passages were not reranked");
    const reason = error instanceof AppError ? String(error.detail) : "The reranking server failed.";
    tracer.note(`Not reranked: ${reason}`);
    return undefined;
  }
}
