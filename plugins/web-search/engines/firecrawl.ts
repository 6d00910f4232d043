import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "Firecrawl";

/** `POST /v2/search {query, limit, sources}` with a bearer key; the results are `data.web`. */
export function createFirecrawl({ egress, settings }: EngineParts): WebSearchEngine {
  const isHosted = () => URL.parse(settings.firecrawlUrl)?.hostname === "api.firecrawl.dev";
  return {
    id: "firecrawl",
    title,
    variables: ["FIRECRAWL_API_KEY", "FIRECRAWL_API_BASE_URL"],
    missing: () => (isHosted() && settings.firecrawlKey === "" ? ["FIRECRAWL_API_KEY"] : []),
    async search({ query, count, signal }) {
      const { firecrawlUrl, firecrawlKey } = settings;
      const answer = await askService(egress, {
        title,
        url: `${firecrawlUrl.replace(/(?<!\/)\/+$/, "")}/v2/search`,
        method: "POST",
        headers: firecrawlKey === "" ? {} : { authorization: `Bearer ${firecrawlKey}` },
        body: { query, limit: count, sources: ["web"] },
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, ["data", "web"], {
        title: "title",
        link: "url",
        snippet: "description",
      });
    },
  };
}
