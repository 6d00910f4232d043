import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "Exa";

/** `POST /search {query, numResults, type, contents}` with `x-api-key`; the highlights of `results` are the snippets. */
export function createExa({ egress, settings }: EngineParts): WebSearchEngine {
  return {
    id: "exa",
    title,
    variables: ["EXA_API_KEY"],
    missing: () => (settings.exaKey === "" ? ["EXA_API_KEY"] : []),
    async search({ query, count, signal }) {
      const answer = await askService(egress, {
        title,
        url: "https://api.exa.ai/search",
        method: "POST",
        headers: { "x-api-key": settings.exaKey },
        body: { query, numResults: count, type: "auto", contents: { highlights: true } },
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, ["results"], { title: "title", link: "url", snippet: "highlights" });
    },
  };
}
