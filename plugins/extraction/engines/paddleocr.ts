import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { askEngine, type Engine, isObject, toText } from "./engine.ts";

export interface PaddleocrSettings {
  readonly url: string;
  readonly key: string;
}

/** PaddleOCR-VL: `POST /layout-parsing` with base64 answers `{result: {layoutParsingResults: [{markdown: {text}}]}}`, by page. */
export function createPaddleocr(egress: Pick<Egress, "fetch">, settings: () => PaddleocrSettings): Engine {
  const title = "PaddleOCR";
  return {
    title,
    accepts: ({ type, name }) =>
      type === "application/pdf" || type.startsWith("image/") || /\.pdf$/i.test(name),
    async extract({ type, bytes }, signal) {
      const { url, key } = settings();
      const answer = await askEngine(egress, {
        title,
        url: url && `${url.replace(/\/$/, "")}/layout-parsing`,
        method: "POST",
        headers: key === "" ? {} : { authorization: `token ${key}` },
        body: {
          file: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
          fileType: type.startsWith("image/") ? 1 : 0,
        },
        signal,
      });
      const result = isObject(answer) && isObject(answer["result"]) ? answer["result"] : {};
      const pages = result["layoutParsingResults"];
      if (!Array.isArray(pages)) {
        throw new AppError("upstream", `The extraction engine ${title} answered without a text.`);
      }
      return toText(pages.map((page: unknown, at) => ({ text: textOf(page), place: { page: at + 1 } })));
    },
  };
}

function textOf(page: unknown): string {
  const markdown = isObject(page) ? page["markdown"] : undefined;
  return isObject(markdown) && typeof markdown["text"] === "string" ? markdown["text"].trim() : "";
}
