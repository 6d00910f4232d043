import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "Jina";

/** `POST / {q, num}` with a bearer key and `X-Respond-With: no-content`, as pages are loaded here; the results are `data`. */
export function createJina({ egress, settings }: EngineParts): WebSearchEngine {
  return {
    id: "jina",
    title,
    variables: ["JINA_API_KEY", "JINA_API_BASE_URL"],
    missing: () => (settings.jinaKey === "" ? ["JINA_API_KEY"] : []),
    async search({ query, count, signal }) {
      const answer = await askService(egress, {
        title,
        url: settings.jinaUrl,
        method: "POST",
        headers: { authorization: `Bearer ${settings.jinaKey}`, "x-respond-with": "no-content" },
        body: { q: query, num: count },
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, ["data"], { title: "title", link: "url", snippet: "description" });
    },
  };
}
