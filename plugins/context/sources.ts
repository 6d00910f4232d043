import type { Source } from "#plugins/completions/service.ts";
import type { FoundPassage, Retrieval } from "#plugins/retrieval/service.ts";
import type { Budget } from "./budget.ts";

/** Passages as the sources of a reply, best first: those of one document are one source (contract §3.4). */
export function fromPassages(passages: readonly FoundPassage[]): Source[] {
  return [...Map.groupBy(passages, ({ sourceId }) => sourceId).values()].map((group) => {
    const [{ sourceId, fileId, name, url }] = group as [FoundPassage];
    return {
      source: {
        id: fileId ?? sourceId,
        name,
        type: fileId === undefined ? (url === undefined ? "text" : "url") : "file",
        ...(url !== undefined && { url }),
      },
      document: group.map(({ content }) => content),
      metadata: group.map(toMetadata),
      distances: group.map(({ score }) => round(score)),
    };
  });
}

/** A whole document, or the beginning of one. */
export interface WholeText {
  readonly id: string;
  readonly type: "file" | "chat" | "url" | "text";
  readonly name: string;
  readonly url?: string | undefined;
  readonly content: string;
  /** It goes on after what is given. */
  readonly isCut: boolean;
}

export function wholeSource({ id, type, name, url, content, isCut }: WholeText): Source {
  return {
    source: { id, name, type, ...(url !== undefined && { url }) },
    document: [content],
    metadata: [
      {
        source: url ?? name,
        name,
        ...(type === "file" && { file_id: id }),
        start: 0,
        end: content.length,
        whole: !isCut,
      },
    ],
  };
}

/** A text of the index; with a budget, as much of it as that holds. */
export function storedText(
  text: Awaited<ReturnType<Retrieval["texts"]>>[number],
  budget?: Budget,
): WholeText {
  const { sourceId, fileId, name, url, content, truncated } = text;
  const kept = budget?.cut(content) ?? content;
  return {
    id: fileId ?? sourceId,
    type: fileId === undefined ? (url === undefined ? "text" : "url") : "file",
    name,
    url,
    content: kept,
    isCut: truncated || kept.length < content.length,
  };
}

function toMetadata(passage: FoundPassage): Record<string, unknown> {
  const { name, url, fileId, page, sheet, headings, start, end, score, scores } = passage;
  return {
    source: url ?? name,
    name,
    ...(fileId !== undefined && { file_id: fileId }),
    // Clients count pages of `page` from 0, as loaders of documents do; the label is what people read.
    ...(page !== undefined && { page: page - 1, page_label: String(page) }),
    ...(sheet !== undefined && { sheet }),
    ...(headings.length > 0 && { headings }),
    start,
    end,
    score: round(score),
    scores: Object.fromEntries(Object.entries(scores).map(([method, value]) => [method, round(value)])),
  };
}

const round = (value: number): number => Math.round(value * 10_000) / 10_000;
