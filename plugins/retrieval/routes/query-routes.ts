import type { Principal } from "#kernel/access/principal.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { CollectionQuery, DocumentQuery, QueryAnswer } from "../schema.ts";
import type { FoundPassage, Retrieval, SearchSettings } from "../service.ts";
import { below, type Prefix } from "./prefix.ts";

interface Query {
  readonly query: string;
  readonly k?: number | null | undefined;
  readonly k_reranker?: number | null | undefined;
  readonly r?: number | null | undefined;
  readonly hybrid?: boolean | null | undefined;
  readonly hybrid_bm25_weight?: number | null | undefined;
}

/** Questions to collections (contract §6.3). */
export function queryRoutes(prefix: Prefix, retrieval: Pick<Retrieval, "scope" | "search">) {
  async function answer(caller: Principal, names: readonly string[], query: Query, signal: AbortSignal) {
    const { passages } = await retrieval.search({
      scope: await retrieval.scope(caller, { collections: names }),
      queries: [query.query],
      settings: toSettings(query),
      signal,
    });
    return {
      distances: [passages.map(({ score }) => score)],
      documents: [passages.map(({ content }) => content)],
      metadatas: [passages.map(toMetadata)],
    };
  }

  return [
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/query/doc"),
        summary: "Search one collection",
        access: "user",
        body: DocumentQuery,
        returns: QueryAnswer,
        fails: [400, 404],
      },
      ({ body, caller, request }) => answer(caller, [body.collection_name], body, request.signal),
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/query/collection"),
        summary: "Search collections together",
        access: "user",
        body: CollectionQuery,
        returns: QueryAnswer,
        fails: [400, 404],
      },
      ({ body, caller, request }) => answer(caller, body.collection_names, body, request.signal),
    ),
  ] as const;
}

function toSettings(query: Query): SearchSettings {
  const given = {
    topK: query.k,
    rerankTopK: query.k_reranker,
    threshold: query.r,
    hybrid: query.hybrid,
    keywordWeight: query.hybrid_bm25_weight,
  };
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** Keys that clients of the ecosystem read, with null for what is not known. */
function toMetadata({ fileId, name, url, page, sheet, headings, start, end, sourceId }: FoundPassage) {
  return {
    file_id: fileId ?? null,
    source_id: sourceId,
    name,
    source: url ?? name,
    page: page ?? null,
    sheet: sheet ?? null,
    headings,
    start_index: start,
    end_index: end,
  };
}
