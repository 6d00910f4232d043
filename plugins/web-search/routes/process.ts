import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Retrieval } from "#plugins/retrieval/service.ts";
import { findHits, type FindingParts, openPages } from "../search/find-pages.ts";
import type { Searches } from "../search/search.ts";
import { below, type Prefix } from "#plugins/retrieval/service.ts";
import { PageForm, PageQuery, ProcessedPage, SearchedPages, SearchForm } from "./schema.ts";

export interface ProcessRouteParts extends FindingParts {
  readonly searches: Searches;
  readonly retrieval: Retrieval | undefined;
}

const fails = [400, 403, 404, 502, 503, 504];

/** Pages of the web as texts of the index (contract §6.3). */
export function processRoutes(prefix: Prefix, parts: ProcessRouteParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/process/web"),
        summary: "Read a page of the web, and index its text",
        access: "user",
        body: PageForm,
        query: PageQuery,
        returns: ProcessedPage,
        fails,
      },
      ({ body, query, caller, request }) =>
        processPage({ ...body, ...query, caller, signal: request.signal }, parts),
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/process/youtube"),
        summary: "The same as /process/web",
        access: "user",
        body: PageForm,
        query: PageQuery,
        returns: ProcessedPage,
        fails,
      },
      ({ body, query, caller, request }) =>
        processPage({ ...body, ...query, caller, signal: request.signal }, parts),
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/process/web/search"),
        summary: "Search the web, read the pages found, and index their texts",
        access: "user",
        body: SearchForm,
        returns: SearchedPages,
        fails,
      },
      ({ body, caller, request }) => searchWeb({ ...body, caller, signal: request.signal }, parts),
    ),
  ] as const;
}

interface PageOrder {
  readonly url: string;
  readonly collection_name?: string | null | undefined;
  readonly process: boolean;
  readonly overwrite: boolean;
  readonly caller: Principal;
  readonly signal: AbortSignal;
}

async function processPage(
  { url, collection_name: collection, process, overwrite, caller, signal }: PageOrder,
  { pages, retrieval }: ProcessRouteParts,
) {
  if (!hasPermission(caller, "chat.web_upload")) {
    throw new AppError("forbidden", "Not allowed: needs the permission chat.web_upload.");
  }
  if (process && collection) {
    // Before the page is asked for: a foreign collection is not told from an unknown one by what the page does (S21).
    await requireIndex(retrieval).requireWritable(caller, collection);
  }
  const { title, content, finalUrl } = await pages.load(url, signal);
  const page = {
    status: true as const,
    filename: title,
    file: { data: { content }, meta: { name: title, source: finalUrl } },
  };
  if (!process) {
    return { ...page, collection_name: null, content };
  }
  const named = collection ? { collection, overwrite } : {};
  const text = { owner: caller, name: title, url: finalUrl, content, ...named };
  return { ...page, collection_name: (await requireIndex(retrieval).addText(text)).collection };
}

interface SearchOrder {
  readonly queries: readonly string[];
  readonly caller: Principal;
  readonly signal: AbortSignal;
}

async function searchWeb({ queries, caller, signal }: SearchOrder, parts: ProcessRouteParts) {
  const { searches, retrieval, settings } = parts;
  searches.requireAllowed(caller);
  const { hits, problems } = await findHits(queries, parts, signal);
  if (hits.length === 0 && problems.length > 0) {
    throw new AppError("upstream", problems.join(" "));
  }
  const opened = await openPages(hits, parts, signal);
  const read = opened.filter(({ problem, content }) => problem === undefined && content !== "");
  const found = {
    status: true as const,
    filenames: read.map(({ hit }) => hit.link),
    items: hits.map((hit) => ({ ...hit })),
    loaded_count: read.length,
  };
  if (settings.bypassRetrieval || settings.bypassLoader) {
    const docs = read.map(({ hit, title, content }) => ({
      content,
      metadata: { source: hit.link, title, snippet: hit.snippet },
    }));
    return { ...found, collection_name: null, docs };
  }
  let collection: string | undefined;
  for (const { hit, title, content } of read) {
    const text = { owner: caller, name: title, url: hit.link, content };
    ({ collection } = await requireIndex(retrieval).addText({ ...text, ...(collection && { collection }) }));
  }
  return { ...found, collection_names: collection === undefined ? [] : [collection] };
}

function requireIndex(retrieval: Retrieval | undefined): Retrieval {
  if (retrieval === undefined) {
    throw new AppError("unavailable", "Texts cannot be indexed here: retrieval is switched off.");
  }
  return retrieval;
}
