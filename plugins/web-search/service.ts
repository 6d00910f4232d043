import type { Principal } from "#kernel/access/principal.ts";
import { defineService, defineSlot } from "#kernel/service.ts";

/** One answer of a search engine (appendix A7). */
export interface WebHit {
  readonly title: string;
  /** An http or https address. */
  readonly link: string;
  /** Plain text. */
  readonly snippet: string;
}

/** A question to a search engine. */
export interface WebQuestion {
  readonly query: string;
  /** Most hits that are wanted; an engine may give more or fewer. */
  readonly count: number;
  readonly signal: AbortSignal;
}

/** A search engine that administrators choose by its id (`WEB_SEARCH_ENGINE`, appendix A4). */
export interface WebSearchEngine {
  readonly id: string;
  /** Its name, for people. */
  readonly title: string;
  /** Names of the variables that it reads, in the order in which people fill them in. */
  readonly variables: readonly string[];
  /** Those of `variables` that are needed and empty now. */
  missing(): readonly string[];
  /** Best first. Throws `upstream`, `timeout`, `rate_limited` or `unavailable` with a sentence that names the engine. */
  search(question: WebQuestion): Promise<readonly WebHit[]>;
}

/** Search engines beside those of the platform; an id that is taken is refused when the process starts. */
export const webSearchEngines = defineSlot<WebSearchEngine>("web-search.engines");

/** A page of the web as text. */
export interface WebPage {
  /** Where it was asked for. */
  readonly url: string;
  /** Where it was found, after redirects. */
  readonly finalUrl: string;
  readonly title: string;
  /** Markdown for HTML, else plain text. */
  readonly content: string;
  /** True where the text was longer than is kept (a million characters). */
  readonly isTruncated: boolean;
}

export interface WebSearch {
  /** Whether people may search at all: switched on, with an engine that has what it needs. */
  isReady(): boolean;
  /** Throws `forbidden` without `features.web_search` or while web search is off, and what the engine throws. */
  search(principal: Principal, question: WebQuestion): Promise<readonly WebHit[]>;
  /**
   * Loads a page as the settings allow. Throws `forbidden` for private addresses, filtered hosts and what robots.txt
   * excludes, `invalid` for what is no web address or has no text, `upstream` and `timeout` for hosts that fail.
   */
  load(url: string, signal: AbortSignal): Promise<WebPage>;
}

export const webSearch = defineService<WebSearch>("web-search");
