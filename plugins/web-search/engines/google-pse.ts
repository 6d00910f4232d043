import type { WebHit, WebSearchEngine } from "../service.ts";
import { askService, type EngineParts } from "./ask.ts";
import { readHits } from "./hits.ts";

const title = "Google";
const pageSize = 10;

/** `GET /customsearch/v1?cx=&key=&q=&num=&start=`: ten `items` a page at most, so larger counts take several. */
export function createGooglePse({ egress, settings }: EngineParts): WebSearchEngine {
  const missing = () => [
    ...(settings.googleKey === "" ? ["GOOGLE_PSE_API_KEY"] : []),
    ...(settings.googleEngine === "" ? ["GOOGLE_PSE_ENGINE_ID"] : []),
  ];
  return {
    id: "google_pse",
    title,
    variables: ["GOOGLE_PSE_API_KEY", "GOOGLE_PSE_ENGINE_ID"],
    missing,
    async search({ query, count, signal }) {
      const hits: WebHit[] = [];
      while (hits.length < count) {
        const url = new URL("https://www.googleapis.com/customsearch/v1");
        const size = Math.min(count - hits.length, pageSize);
        const facts = { cx: settings.googleEngine, key: settings.googleKey, q: query };
        Object.entries(facts).forEach(([name, value]) => url.searchParams.set(name, value));
        url.searchParams.set("num", String(size));
        url.searchParams.set("start", String(hits.length + 1));
        const answer = await askService(egress, {
          title,
          url,
          timeoutMs: settings.searchTimeout * 1000,
          signal,
        });
        const found = readHits(title, answer, ["items"], {
          title: "title",
          link: "link",
          snippet: "snippet",
        });
        hits.push(...found);
        if (found.length < size) {
          break;
        }
      }
      return hits;
    },
  };
}
