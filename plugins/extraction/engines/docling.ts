import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { askEngine, type Engine, isObject, toText } from "./engine.ts";

export interface DoclingSettings {
  readonly url: string;
  readonly key: string;
  /** DOCLING_PARAMS: further fields of the form. */
  readonly params: Readonly<Record<string, unknown>>;
}

const pageBreak = "<!-- page break -->";

/**
 * Docling Serve: `POST /v1/convert/file` with a form answers `{document: {md_content}, status}`. The mark between pages
 * is asked for, so that passages know theirs; it is none where the server does not know that field.
 */
export function createDocling(egress: Pick<Egress, "fetch">, settings: () => DoclingSettings): Engine {
  const title = "Docling";
  return {
    title,
    accepts: () => true,
    async extract({ name, type, bytes }, signal) {
      const { url, key, params } = settings();
      const form = new FormData();
      form.append("files", new File([bytes], name, { type }));
      const fields = {
        to_formats: "md",
        image_export_mode: "placeholder",
        md_page_break_placeholder: pageBreak,
      };
      for (const [field, value] of Object.entries({ ...fields, ...params })) {
        for (const each of Array.isArray(value) ? value : [value]) {
          form.append(field, typeof each === "string" ? each : JSON.stringify(each));
        }
      }
      const answer = await askEngine(egress, {
        title,
        url: url && `${url.replace(/\/$/, "")}/v1/convert/file`,
        method: "POST",
        headers: key === "" ? {} : { "x-api-key": key },
        body: form,
        signal,
      });
      const document = isObject(answer) && isObject(answer.document) ? answer.document : {};
      if (typeof document.md_content !== "string") {
        throw new AppError("upstream", "The extraction engine Docling answered without a text.");
      }
      const pages = document.md_content.split(pageBreak);
      return toText(
        pages.length === 1
          ? [{ text: document.md_content }]
          : pages.map((text, at) => ({ text: text.trim(), place: { page: at + 1 } })),
      );
    },
  };
}
