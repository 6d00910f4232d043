import { AppError } from "#kernel/errors.ts";
import type { WebSettings } from "../config.ts";
import type { Pages } from "../loader/pages.ts";
import type { WebHit } from "../service.ts";
import type { Searches } from "./search.ts";

export interface FindingParts {
  readonly settings: WebSettings;
  readonly searches: Pick<Searches, "ask">;
  readonly pages: Pick<Pages, "load">;
}

/** A result with what is known of its page. */
export interface FoundPage {
  readonly hit: WebHit;
  /** The page's text; what the engine says about it where the page was not opened. */
  readonly content: string;
  readonly title: string;
  /** Why the page could not be opened. */
  readonly problem: string | undefined;
}

/** What several searches found together. */
export interface FoundHits {
  /** Each page once; the best of every query first. */
  readonly hits: readonly WebHit[];
  /** A sentence for each way in which a search failed. */
  readonly problems: readonly string[];
}

/** Asks the engine for every query. Rejects only when the signal is aborted. */
export async function findHits(
  queries: readonly string[],
  { searches, settings }: FindingParts,
  signal: AbortSignal,
): Promise<FoundHits> {
  const lists = await Promise.allSettled(
    queries.map((query) => searches.ask({ query, count: settings.resultCount, signal })),
  );
  signal.throwIfAborted();
  const found = lists.flatMap((list) => (list.status === "fulfilled" ? [list.value] : []));
  const problems = lists.flatMap((list) => (list.status === "rejected" ? [toSentence(list.reason)] : []));
  const byLink = new Map<string, WebHit>();
  for (let rank = 0; found.some((hits) => rank < hits.length); rank += 1) {
    for (const hit of found.flatMap((hits) => hits[rank] ?? [])) {
      byLink.set(hit.link, byLink.get(hit.link) ?? hit);
    }
  }
  return { hits: [...byLink.values()], problems: [...new Set(problems)] };
}

/** Opens the pages of hits, where the settings say so. Rejects only when the signal is aborted. */
export async function openPages(
  hits: readonly WebHit[],
  { pages, settings }: FindingParts,
  signal: AbortSignal,
): Promise<FoundPage[]> {
  const open = async (hit: WebHit): Promise<FoundPage> => {
    const known = { hit, content: hit.snippet, title: hit.title, problem: undefined };
    if (settings.bypassLoader) {
      return known;
    }
    try {
      const { content, title } = await pages.load(hit.link, signal);
      return { ...known, content, title: title || hit.title };
    } catch (error) {
      return { ...known, problem: toSentence(error) };
    }
  };
  const found = await Promise.all(hits.map(open));
  signal.throwIfAborted();
  return found;
}

/** A failure as people may read it. */
export function toSentence(error: unknown): string {
  return error instanceof AppError && typeof error.detail === "string"
    ? error.detail
    : "The web could not be searched just now.";
}
