import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { askEngine, type Engine, isObject, toText } from "./engine.ts";

export interface ExternalSettings {
  readonly url: string;
  readonly key: string;
}

/**
 * A loader of one's own: `PUT /process` with the bytes answers `{page_content, metadata}`, or a list of these, whose
 * `metadata.page` counts from 0.
 */
export function createExternal(egress: Pick<Egress, "fetch">, settings: () => ExternalSettings): Engine {
  const title = "external";
  return {
    title,
    accepts: () => true,
    async extract({ name, type, bytes }, signal) {
      const { url, key } = settings();
      const answer = await askEngine(egress, {
        title,
        url: url && `${url.replace(/\/$/, "")}/process`,
        method: "PUT",
        headers: {
          "content-type": type,
          "x-filename": encodeURIComponent(name.toWellFormed()),
          ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
        },
        body: bytes,
        signal,
      });
      const parts = (Array.isArray(answer) ? answer : [answer]).map(toPart);
      return toText(parts);
    },
  };
}

function toPart(entry: unknown): { text: string; place?: { page: number } } {
  if (!isObject(entry) || typeof entry.page_content !== "string") {
    throw new AppError("upstream", "The extraction engine external answered without a text.");
  }
  const page = isObject(entry.metadata) ? entry.metadata.page : undefined;
  const isPage = typeof page === "number" && Number.isSafeInteger(page) && page >= 0;
  return { text: entry.page_content, ...(isPage ? { place: { page: page + 1 } } : {}) };
}
