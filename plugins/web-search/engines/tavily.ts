import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "Tavily";

/** `POST /search {query, max_results}` with a bearer key; at most 20 `results`. */
export function createTavily({ egress, settings }: EngineParts): WebSearchEngine {
  return {
    id: "tavily",
    title,
    variables: ["TAVILY_API_KEY"],
    missing: () => (settings.tavilyKey === "" ? ["TAVILY_API_KEY"] : []),
    async search({ query, count, signal }) {
      const answer = await askService(egress, {
        title,
        url: "https://api.tavily.com/search",
        method: "POST",
        headers: { authorization: `Bearer ${settings.tavilyKey}` },
        body: { query, max_results: Math.min(count, 20) },
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, ["results"], { title: "title", link: "url", snippet: "content" });
    },
  };
}
