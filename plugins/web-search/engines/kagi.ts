import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "Kagi";

/** `POST /api/v1/search {query, workflow, limit}` with a bearer key; the results are `data.search`. */
export function createKagi({ egress, settings }: EngineParts): WebSearchEngine {
  return {
    id: "kagi",
    title,
    variables: ["KAGI_SEARCH_API_KEY"],
    missing: () => (settings.kagiKey === "" ? ["KAGI_SEARCH_API_KEY"] : []),
    async search({ query, count, signal }) {
      const answer = await askService(egress, {
        title,
        url: "https://kagi.com/api/v1/search",
        method: "POST",
        headers: { authorization: `Bearer ${settings.kagiKey}` },
        body: { query, workflow: "search", limit: count },
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, ["data", "search"], { title: "title", link: "url", snippet: "snippet" });
    },
  };
}
