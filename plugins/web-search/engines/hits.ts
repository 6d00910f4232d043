import { AppError } from "#kernel/errors.ts";
import type { WebHit } from "../service.ts";

/** The names under which an engine gives title, address and snippet. */
export interface HitNames {
  readonly title: string;
  readonly link: string;
  readonly snippet: string;
}

type Bag = Readonly<Record<string, unknown>>;

/**
 * Hits of the list at `path` of an answer; entries without a web address are left out, and a list that is not there is
 * an empty one. Throws `upstream` for an answer that is no object or whose list is none.
 */
export function readHits(title: string, answer: unknown, path: readonly string[], names: HitNames): WebHit[] {
  let at: unknown = answer;
  for (const key of path) {
    if (typeof at !== "object" || at === null) {
      throw toStrange(title);
    }
    at = (at as Bag)[key];
    if (at === undefined || at === null) {
      return [];
    }
  }
  if (!Array.isArray(at)) {
    throw toStrange(title);
  }
  return at.flatMap((entry: unknown) => toHit(entry, names) ?? []);
}

const mostTitle = 300;
const mostSnippet = 2_000;

function toHit(entry: unknown, names: HitNames): WebHit | undefined {
  if (typeof entry !== "object" || entry === null) {
    return undefined;
  }
  const bag = entry as Bag;
  const url = typeof bag[names.link] === "string" ? URL.parse(bag[names.link] as string) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return undefined;
  }
  const title = toPlain(bag[names.title]).slice(0, mostTitle);
  return {
    title: title === "" ? url.hostname : title,
    link: url.href,
    snippet: toPlain(bag[names.snippet]).slice(0, mostSnippet),
  };
}

function toStrange(title: string): AppError {
  return new AppError("upstream", `${title} answered in a form that is not the documented one.`);
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#x27;": "'",
  "&nbsp;": " ",
};

/** A text without the marks with which engines highlight words; several texts are joined. */
function toPlain(value: unknown): string {
  const text = Array.isArray(value) ? value.filter((one) => typeof one === "string").join(" … ") : value;
  return typeof text !== "string"
    ? ""
    : text
        .slice(0, mostSnippet * 4)
        .replaceAll(/<\/?(?:strong|b|em|i|mark|span)\b[^<>]{0,200}>/gi, "")
        .replaceAll(
          /&(?:amp|lt|gt|quot|nbsp|#39|#x27);/gi,
          (entity) => entities[entity.toLowerCase()] ?? entity,
        )
        .replaceAll(/\s+/g, " ")
        .trim();
}
