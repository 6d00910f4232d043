import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "SerpApi";

/** `GET /search?engine=&q=&api_key=`; the results are `organic_results`, whose number the engine behind it decides. */
export function createSerpapi({ egress, settings }: EngineParts): WebSearchEngine {
  return {
    id: "serpapi",
    title,
    variables: ["SERPAPI_API_KEY", "SERPAPI_ENGINE"],
    missing: () => (settings.serpapiKey === "" ? ["SERPAPI_API_KEY"] : []),
    async search({ query, signal }) {
      const url = new URL("https://serpapi.com/search");
      url.searchParams.set("engine", settings.serpapiEngine || "google");
      url.searchParams.set("q", query);
      url.searchParams.set("api_key", settings.serpapiKey);
      const answer = await askService(egress, {
        title,
        url,
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, ["organic_results"], {
        title: "title",
        link: "link",
        snippet: "snippet",
      });
    },
  };
}
