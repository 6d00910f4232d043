import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { callEngine, type Engine, isObject, pollEngine, toText } from "./engine.ts";

export interface DocumentIntelligenceSettings {
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

const version = "2024-11-30";

/**
 * Azure Document Intelligence: `POST …/documentModels/{model}:analyze` with the bytes answers 202 and names the result in
 * `operation-location`, whose `analyzeResult.pages` say where in `content` they stand.
 */
export function createDocumentIntelligence(
  egress: Pick<Egress, "fetch">,
  settings: () => DocumentIntelligenceSettings,
): Engine {
  const title = "Document Intelligence";
  return {
    title,
    accepts: () => true,
    async extract({ bytes }, signal) {
      const { url, key, model } = settings();
      const headers = { "ocp-apim-subscription-key": key };
      const query = `api-version=${version}&outputContentFormat=markdown&stringIndexType=utf16CodeUnit`;
      const path = `/documentintelligence/documentModels/${encodeURIComponent(model)}:analyze?${query}`;
      const taken = await callEngine(egress, {
        title,
        url: url && url.replace(/\/$/, "") + path,
        method: "POST",
        headers: { ...headers, "content-type": "application/octet-stream" },
        body: bytes,
        signal,
      });
      await taken.body?.cancel().catch(() => undefined);
      const answer = await pollEngine(egress, {
        title,
        url: taken.headers.get("operation-location") ?? "",
        origin: url,
        headers,
        signal,
        isPending: ({ status }) => status === "running" || status === "notStarted",
      });
      const result = isObject(answer["analyzeResult"]) ? answer["analyzeResult"] : {};
      if (answer["status"] !== "succeeded" || typeof result["content"] !== "string") {
        throw new AppError("unprocessable", `The extraction engine ${title} could not read the document.`);
      }
      return toText(toPages(result["content"], result["pages"]));
    },
  };
}

function toPages(content: string, pages: unknown): { text: string; place?: { page: number } }[] {
  const spans = (Array.isArray(pages) ? pages : []).flatMap((page: unknown, at) => {
    const [span] = isObject(page) && Array.isArray(page["spans"]) ? (page["spans"] as unknown[]) : [];
    return isObject(span) && typeof span["offset"] === "number" && typeof span["length"] === "number"
      ? [{ page: at + 1, start: span["offset"], end: span["offset"] + span["length"] }]
      : [];
  });
  return spans.length === 0
    ? [{ text: content }]
    : spans.map(({ page, start, end }) => ({ text: content.slice(start, end).trim(), place: { page } }));
}
