import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { askEngine, type Engine, isObject, toText } from "./engine.ts";

export interface MistralSettings {
  readonly url: string;
  readonly key: string;
}

/** Mistral OCR: `POST /ocr` with the PDF as a data address answers `{pages: [{index, markdown}]}`. */
export function createMistralOcr(egress: Pick<Egress, "fetch">, settings: () => MistralSettings): Engine {
  const title = "Mistral OCR";
  return {
    title,
    accepts: ({ type, name }) => type === "application/pdf" || /\.pdf$/i.test(name),
    async extract({ bytes }, signal) {
      const { url, key } = settings();
      if (key === "") {
        throw new AppError("unavailable", "The extraction engine Mistral OCR has no key yet.");
      }
      const encoded = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
      const answer = await askEngine(egress, {
        title,
        url: url && `${url.replace(/\/$/, "")}/ocr`,
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: {
          model: "mistral-ocr-latest",
          document: { type: "document_url", document_url: `data:application/pdf;base64,${encoded}` },
          include_image_base64: false,
        },
        signal,
      });
      const pages = isObject(answer) && Array.isArray(answer.pages) ? answer.pages.filter(isObject) : [];
      return toText(
        pages.map(({ index, markdown }, at) => ({
          text: typeof markdown === "string" ? markdown : "",
          place: { page: (typeof index === "number" ? index : at) + 1 },
        })),
      );
    },
  };
}
