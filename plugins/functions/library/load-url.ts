import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { maxContent } from "../schema.ts";

/** Fetches the source that an administrator names, pages of code hosts included (contract D.15: it may be private). */
export function createUrlLoader(egress: Pick<Egress, "fetch">) {
  return async (address: string): Promise<{ name: string; content: string }> => {
    const url = toRawUrl(address);
    const answer = await egress.fetch(url, { trust: "operator", maxBytes: maxContent, timeoutMs: 30_000 });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new AppError("invalid", `The address answered with status ${answer.status}.`);
    }
    const content = await answer.text();
    if (/^\s*<(?:!doctype|html)\b/i.test(content)) {
      throw new AppError("invalid", "The address answered with a web page, not with code.");
    }
    return { name: toName(url), content };
  };
}

/** Pages that show a file, and where its text is. `$<ref>` may hold slashes only where the host marks its end. */
const rewrites: readonly (readonly [RegExp, string])[] = [
  [
    /^https:\/\/(?:www\.)?github\.com\/([^/]+\/[^/]+)\/(?:blob|raw)\/(.+)$/,
    "https://raw.githubusercontent.com/$1/$2",
  ],
  [
    /^https:\/\/(?:www\.)?github\.com\/([^/]+\/[^/]+)\/tree\/(.+?)\/?$/,
    "https://raw.githubusercontent.com/$1/$2/main.js",
  ],
  [/^https:\/\/gist\.github\.com\/([^/]+\/[0-9a-f]+)\/?$/, "https://gist.githubusercontent.com/$1/raw"],
  [/^(https:\/\/[^/]+\/.+?)\/-\/blob\/(.+)$/, "$1/-/raw/$2"],
  [/^(https:\/\/codeberg\.org\/[^/]+\/[^/]+)\/src\/(branch|tag|commit)\/(.+)$/, "$1/raw/$2/$3"],
  [/^(https:\/\/bitbucket\.org\/[^/]+\/[^/]+)\/src\/(.+)$/, "$1/raw/$2"],
];

/** The address of the text itself. Throws AppError `invalid` when it is none. */
export function toRawUrl(address: string): string {
  const url = URL.parse(address.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AppError("invalid", "Give the whole http or https address of a file.");
  }
  url.hash = "";
  const isPage = /(?:github|gitlab|codeberg|bitbucket)/.test(url.hostname);
  const text = isPage ? url.href.split("?")[0]! : url.href;
  const [pattern, target] = rewrites.find(([page]) => page.test(text)) ?? [];
  return pattern && target ? text.replace(pattern, target) : url.href;
}

/** The name of the file; one with a name like `main` takes that of its folder. */
function toName(address: string): string {
  const parts = new URL(address).pathname.split("/").filter((part) => part !== "");
  const file = (parts.at(-1) ?? "").replace(/\.[cm]?[jt]s$/i, "");
  const name = /^(?:main|index|function|raw)$/i.test(file) ? (parts.at(-2) ?? file) : file;
  const words = decodeURIComponent(name.replace(/%(?![0-9a-f]{2})/gi, "%25"));
  return words.replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "") || "function";
}
