import type { Principal } from "#kernel/access/principal.ts";
import type { Slot } from "#kernel/service.ts";
import { AppError } from "#kernel/errors.ts";
import type { FoundPassage, PromptPreview, Retrieval, SearchSettings, TracedPassage } from "../service.ts";
import type { LabAnswer, LabPassage, LabQuestion, LabSettings } from "./schema.ts";

export interface LabParts {
  readonly retrieval: Pick<Retrieval, "scope" | "search">;
  readonly previews: Slot<PromptPreview>;
}

/** A search with everything that shows how it came to its passages, and what a model would be sent. */
export async function explain(
  { retrieval, previews }: LabParts,
  { caller, question, signal }: { caller: Principal; question: LabQuestion; signal: AbortSignal },
): Promise<LabAnswer> {
  const { files, collections, settings } = question;
  requireScope(question);
  const { passages, trace } = await retrieval.search({
    scope: await retrieval.scope(caller, { files, collections }),
    queries: [question.question],
    settings: toSettings(settings),
    signal,
    explain: true,
  });
  if (trace === undefined) {
    throw new AppError("unavailable", "The search gave no trace.");
  }
  const [preview] = previews.list();
  const { keyword, vector, fused, reranked, cut, times, notes } = trace;
  return {
    passages: passages.map(toPassage),
    trace: {
      keyword: keyword.map(toTraced),
      vector: vector.map(toTraced),
      fused: fused.map(toTraced),
      reranked: reranked?.map(toTraced) ?? null,
      cut: cut.map((entry) => ({ ...toTraced(entry), reason: entry.reason })),
      times: { ...times },
      notes: [...notes],
    },
    prompt: [...(preview?.show(question.question, passages) ?? [])],
  };
}

/** A question over nothing finds nothing: it is a slip of the form. */
export function requireScope({ files, collections }: Pick<LabQuestion, "files" | "collections">): void {
  if (files.length + collections.length === 0) {
    throw new AppError("invalid", "files: name a file or a collection that is searched.");
  }
}

/** The settings as a search takes them. */
export function toSettings(settings: LabSettings): SearchSettings {
  const given = {
    topK: settings.top_k,
    hybrid: settings.hybrid,
    keywordWeight: settings.keyword_weight,
    threshold: settings.threshold,
    rerank: settings.rerank,
  };
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
  );
}

function toPassage(passage: FoundPassage): LabPassage {
  const { sourceId, fileId, start, end, headings, scores } = passage;
  return {
    ...toTraced(passage),
    source_id: sourceId,
    file_id: fileId ?? null,
    start,
    end,
    headings: [...headings],
    scores: { ...scores },
  };
}

function toTraced({ id, name, content, score, page }: TracedPassage) {
  return { id, name, content, score, ...(page !== undefined && { page }) };
}
