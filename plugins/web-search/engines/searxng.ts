import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "SearXNG";

/** `GET /search?q=&format=json` (docs.searxng.org/dev/search_api.html); a server without JSON among its formats answers 403. */
export function createSearxng({ egress, settings }: EngineParts): WebSearchEngine {
  return {
    id: "searxng",
    title,
    variables: ["SEARXNG_QUERY_URL", "SEARXNG_LANGUAGE"],
    missing: () => (settings.searxngUrl === "" ? ["SEARXNG_QUERY_URL"] : []),
    async search({ query, signal }) {
      const url = new URL(settings.searxngUrl.replaceAll("<query>", ""));
      if (url.pathname === "/") {
        url.pathname = "/search";
      }
      url.searchParams.set("q", query);
      url.searchParams.set("format", "json");
      url.searchParams.set("pageno", "1");
      url.searchParams.set("language", settings.searxngLanguage || "all");
      const answer = await askService(egress, {
        title,
        url,
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, ["results"], { title: "title", link: "url", snippet: "content" });
    },
  };
}
