import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type AnyRoute, defineRoute, reply } from "#kernel/http/route.ts";

/** Path → file beside this one, with its type. */
const pages = {
  "/": { file: "start.html", type: "text/html; charset=utf-8" },
  "/assets/start.js": { file: "start.js", type: "text/javascript; charset=utf-8" },
  "/assets/start.css": { file: "start.css", type: "text/css; charset=utf-8" },
  "/favicon.svg": { file: "favicon.svg", type: "image/svg+xml" },
} as const;

/** No inline script, nothing from elsewhere, no framing. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** The first page: make the first account, make a key, see how to go on. */
export async function pageRoutes(): Promise<AnyRoute[]> {
  return Promise.all(
    Object.entries(pages).map(async ([path, { file, type }]) => {
      const bytes = await readFile(new URL(`pages/${file}`, import.meta.url));
      const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
      const headers = {
        "content-type": type,
        "content-security-policy": policy,
        "referrer-policy": "same-origin",
        "cache-control": "no-cache",
        etag,
      };
      return defineRoute(
        { method: "GET", path: path as "/", summary: `Page ${path}`, access: "public", hidden: true },
        ({ request }) =>
          request.headers["if-none-match"] === etag
            ? reply(undefined, { status: 304, headers })
            : reply(bytes, { headers }),
      );
    }),
  );
}
