import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { askEngine, type Engine, isObject, pollEngine, toText } from "./engine.ts";

export interface DatalabSettings {
  readonly url: string;
  readonly key: string;
}

/** The line before each page: its number from 0, and 48 hyphens. */
const pageMark = /^\{(\d{1,9})\}-{48}$/m;

/** Datalab Marker: a form answers `{request_check_url}`, where `{status, success, markdown}` comes to stand. */
export function createDatalabMarker(egress: Pick<Egress, "fetch">, settings: () => DatalabSettings): Engine {
  const title = "Datalab Marker";
  return {
    title,
    accepts: () => true,
    async extract({ name, type, bytes }, signal) {
      const { url, key } = settings();
      if (key === "") {
        throw new AppError("unavailable", `The extraction engine ${title} has no key yet.`);
      }
      const headers = { "x-api-key": key };
      const form = new FormData();
      form.append("file", new File([bytes], name, { type }));
      form.append("output_format", "markdown");
      form.append("paginate", "true");
      form.append("disable_image_extraction", "true");
      const taken = await askEngine(egress, { title, url, method: "POST", headers, body: form, signal });
      const check = isObject(taken) ? taken["request_check_url"] : undefined;
      const answer = await pollEngine(egress, {
        title,
        url: typeof check === "string" ? check : "",
        origin: url,
        headers,
        signal,
        isPending: ({ status }) => status === "processing",
      });
      if (answer["success"] === false || typeof answer["markdown"] !== "string") {
        throw new AppError("unprocessable", `The extraction engine ${title} could not read the document.`);
      }
      return toText(toPages(answer["markdown"]));
    },
  };
}

function toPages(markdown: string): { text: string; place?: { page: number } }[] {
  // The text before the first mark, then number and text of each page in turn.
  const [before = "", ...rest] = markdown.split(pageMark);
  const pages = rest.flatMap((text, at) =>
    at % 2 === 1 ? [{ text: text.trim(), place: { page: Number(rest[at - 1]) + 1 } }] : [],
  );
  return before.trim() === "" && pages.length > 0 ? pages : [{ text: before }, ...pages];
}
