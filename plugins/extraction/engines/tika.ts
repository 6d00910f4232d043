import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { askEngine, type Engine, isObject, toText } from "./engine.ts";

export interface TikaSettings {
  readonly url: string;
  /** PDF_EXTRACT_IMAGES: pictures within a PDF are read as well. */
  readonly pictures: boolean;
}

/** Apache Tika Server: `PUT /tika/text` answers `{"X-TIKA:content": "…"}`. */
export function createTika(egress: Pick<Egress, "fetch">, settings: () => TikaSettings): Engine {
  const title = "Tika";
  return {
    title,
    accepts: () => true,
    async extract({ type, bytes }, signal) {
      const { url, pictures } = settings();
      const answer = await askEngine(egress, {
        title,
        url: url && `${url.replace(/\/$/, "")}/tika/text`,
        method: "PUT",
        headers: {
          "content-type": type,
          ...(pictures ? { "x-tika-pdfextractinlineimages": "true" } : {}),
        },
        body: bytes,
        signal,
      });
      const content = isObject(answer) ? answer["X-TIKA:content"] : undefined;
      if (typeof content !== "string") {
        throw new AppError("upstream", "The extraction engine Tika answered without a text.");
      }
      return toText([{ text: content.trim() }]);
    },
  };
}
