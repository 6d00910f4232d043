import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { askEngine, type Engine, isObject, toText } from "./engine.ts";

export interface MineruSettings {
  readonly url: string;
  readonly key: string;
}

/** A MinerU server: `POST /file_parse` with a form answers `{results: {<name>: {md_content}}}`. */
export function createMineru(egress: Pick<Egress, "fetch">, settings: () => MineruSettings): Engine {
  const title = "MinerU";
  return {
    title,
    accepts: ({ type, name }) =>
      type === "application/pdf" || type.startsWith("image/") || /\.pdf$/i.test(name),
    async extract({ name, type, bytes }, signal) {
      const { url, key } = settings();
      const form = new FormData();
      form.append("files", new File([bytes], name, { type }));
      form.append("return_md", "true");
      const answer = await askEngine(egress, {
        title,
        url: url && `${url.replace(/\/$/, "")}/file_parse`,
        method: "POST",
        headers: key === "" ? {} : { authorization: `Bearer ${key}` },
        body: form,
        signal,
      });
      const results = isObject(answer) && isObject(answer["results"]) ? Object.values(answer["results"]) : [];
      const [first] = results;
      if (!isObject(first) || typeof first["md_content"] !== "string") {
        throw new AppError("upstream", `The extraction engine ${title} answered without a text.`);
      }
      return toText([{ text: first["md_content"] }]);
    },
  };
}
