import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "Bing";

/** `GET /v7.0/search?q=&count=` with `Ocp-Apim-Subscription-Key`; the results are `webPages.value`. */
export function createBing({ egress, settings }: EngineParts): WebSearchEngine {
  return {
    id: "bing",
    title,
    variables: ["BING_SEARCH_V7_SUBSCRIPTION_KEY", "BING_SEARCH_V7_ENDPOINT"],
    missing: () => (settings.bingKey === "" ? ["BING_SEARCH_V7_SUBSCRIPTION_KEY"] : []),
    async search({ query, count, signal }) {
      const url = new URL(settings.bingEndpoint);
      url.searchParams.set("q", query);
      url.searchParams.set("count", String(Math.min(count, 50)));
      const answer = await askService(egress, {
        title,
        url,
        headers: { "ocp-apim-subscription-key": settings.bingKey },
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, ["webPages", "value"], {
        title: "name",
        link: "url",
        snippet: "snippet",
      });
    },
  };
}
