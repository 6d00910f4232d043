import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "Brave Search";

/** `GET /res/v1/web/search` with `X-Subscription-Token`; at most 20 results of `web.results`. */
export function createBrave({ egress, settings }: EngineParts): WebSearchEngine {
  return {
    id: "brave",
    title,
    variables: ["BRAVE_SEARCH_API_KEY"],
    missing: () => (settings.braveKey === "" ? ["BRAVE_SEARCH_API_KEY"] : []),
    async search({ query, count, signal }) {
      const url = new URL("https://api.search.brave.com/res/v1/web/search");
      url.searchParams.set("q", query);
      url.searchParams.set("count", String(Math.min(count, 20)));
      const answer = await askService(egress, {
        title,
        url,
        headers: { "x-subscription-token": settings.braveKey },
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, ["web", "results"], {
        title: "title",
        link: "url",
        snippet: "description",
      });
    },
  };
}
