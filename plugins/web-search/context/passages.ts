import type { Principal } from "#kernel/access/principal.ts";
import type { Source } from "#plugins/completions/service.ts";
import type { FoundPassage, Retrieval } from "#plugins/retrieval/service.ts";
import type { FoundPage } from "../search/find-pages.ts";

export interface Choosing {
  readonly principal: Principal;
  readonly queries: readonly string[];
  readonly signal: AbortSignal;
}

/** Characters of a page that are searched: its index lives as long as one question. */
const mostSearched = 200_000;

/** The passages of pages that answer the queries, as sources of a reply; the index keeps nothing of the pages. */
export async function choosePassages(
  pages: readonly FoundPage[],
  retrieval: Retrieval,
  { principal, queries, signal }: Choosing,
): Promise<Source[]> {
  let collection: string | undefined;
  try {
    for (const { hit, title, content } of pages.filter((page) => page.content !== "")) {
      signal.throwIfAborted();
      const text = { owner: principal, name: title, url: hit.link, content: content.slice(0, mostSearched) };
      ({ collection } = await retrieval.addText({ ...text, ...(collection && { collection }) }));
    }
    if (collection === undefined) {
      return [];
    }
    const scope = await retrieval.scope(principal, { collections: [collection] });
    const { passages } = await retrieval.search({ scope, queries, signal });
    return toSources(passages);
  } finally {
    if (collection !== undefined) {
      await retrieval.drop(collection);
    }
  }
}

/** Passages of one page are one source. */
function toSources(passages: readonly FoundPassage[]): Source[] {
  return [...Map.groupBy(passages, ({ url, sourceId }) => url ?? sourceId).entries()].map(([url, group]) => {
    const [{ name }] = group as [FoundPassage];
    return {
      source: { id: url, name, type: "url", url },
      document: group.map(({ content }) => content),
      metadata: group.map(({ start, end, score }) => ({ source: url, name, url, start, end, score })),
      distances: group.map(({ score }) => score),
    };
  });
}

/** Characters of all pages together that a model is given whole. */
const mostWhole = 60_000;

/** Pages whole, as far as they fit: each gets its share, and what short ones leave goes to the others. */
export function wholePages(pages: readonly FoundPage[], most = mostWhole): Source[] {
  const shares = new Map<FoundPage, number>();
  let left = most;
  let open = pages.length;
  for (const page of pages.toSorted((a, b) => a.content.length - b.content.length)) {
    const share = Math.min(page.content.length, Math.floor(left / open));
    shares.set(page, share);
    left -= share;
    open -= 1;
  }
  return pages
    .filter(({ content }) => content !== "")
    .map((page) => {
      const { hit, title, content } = page;
      const text = content.slice(0, shares.get(page)).toWellFormed();
      return {
        source: { id: hit.link, name: title, type: "url", url: hit.link },
        document: [text],
        metadata: [{ source: hit.link, name: title, url: hit.link, whole: text.length === content.length }],
      };
    });
}
