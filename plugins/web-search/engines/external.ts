import type { WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "The external search";

/** `POST {query, count}` with a bearer key → `[{link, title, snippet}]` (appendix A4). */
export function createExternal({ egress, settings }: EngineParts): WebSearchEngine {
  return {
    id: "external",
    title: "External service",
    variables: ["EXTERNAL_WEB_SEARCH_URL", "EXTERNAL_WEB_SEARCH_API_KEY"],
    missing: () => (settings.externalUrl === "" ? ["EXTERNAL_WEB_SEARCH_URL"] : []),
    async search({ query, count, signal }) {
      const { externalUrl, externalKey } = settings;
      const answer = await askService(egress, {
        title,
        url: externalUrl,
        method: "POST",
        headers: externalKey === "" ? {} : { authorization: `Bearer ${externalKey}` },
        body: { query, count },
        timeoutMs: settings.searchTimeout * 1000,
        signal,
      });
      return readHits(title, answer, [], { title: "title", link: "link", snippet: "snippet" });
    },
  };
}
