import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "Serper";

/** `POST /search {q, num}` with `X-API-KEY`; the results are `organic`. */
export function createSerper({ egress, settings }: EngineParts): WebSearchEngine {
  return {
    id: "serper",
    title,
    variables: ["SERPER_API_KEY"],
    missing: () => (settings.serperKey === "" ? ["SERPER_API_KEY"] : []),
    async search({ query, count, signal }) {
      const answer = await askService(egress, {
        title,
        url: "https://google.serper.dev/search",
        method: "POST",
        headers: { "x-api-key": settings.serperKey },
        body: { q: query, num: count },
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, ["organic"], { title: "title", link: "link", snippet: "snippet" });
    },
  };
}
