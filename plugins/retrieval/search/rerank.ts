import { z } from "zod";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { RetrievalSettings } from "../config.ts";

const Answer = z.object({
  results: z.array(z.object({ index: z.int(), relevance_score: z.number() })),
});

export interface RerankCall {
  readonly query: string;
  readonly documents: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Asks the reranking server how well each document answers a question: POST {model, query, documents, top_n}, answered
 * by {results: [{index, relevance_score}]}. Resolves to the scores by position; undefined for those it left out.
 */
export async function rerank(
  egress: Egress,
  settings: RetrievalSettings,
  { query, documents, signal }: RerankCall,
): Promise<(number | undefined)[]> {
  const answer = await egress.fetch(settings.rerankUrl, {
    trust: "operator",
    method: "POST",
    headers: settings.rerankKey === "" ? {} : { authorization: `Bearer ${settings.rerankKey}` },
    body: { model: settings.rerankModel, query, documents: [...documents], top_n: documents.length },
    timeoutMs: settings.rerankTimeout * 1000,
    maxBytes: 16 * 1024 * 1024,
    signal,
  });
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new AppError("upstream", `The reranking server answered ${answer.status}.`);
  }
  const parsed = Answer.safeParse(await answer.json().catch(() => undefined));
  if (!parsed.success) {
    throw new AppError("upstream", "The reranking server gave no list of results.");
  }
  const scores = documents.map((): number | undefined => undefined);
  for (const { index, relevance_score: score } of parsed.data.results) {
    if (index >= 0 && index < scores.length) {
      scores[index] = score;
    }
  }
  return scores;
}
