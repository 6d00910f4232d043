import { readFile } from "node:fs/promises";
import { type AnyRoute, defineRoute } from "#kernel/http/route.ts";
import { type Asset, javascript, replyAsset, toAsset } from "./assets.ts";

/** Path → file in `start/`, with its type. */
const files = {
  "/": { file: "start.html", type: "text/html; charset=utf-8" },
  "/assets/start.js": { file: "start.js", type: javascript },
  "/assets/client.js": { file: "client.js", type: javascript },
  "/assets/plugin-pages.js": { file: "plugin-pages.js", type: javascript },
  "/assets/socket.js": { file: "socket.js", type: javascript },
  "/assets/start.css": { file: "start.css", type: "text/css; charset=utf-8" },
  "/favicon.svg": { file: "favicon.svg", type: "image/svg+xml" },
} as const;

/**
 * The start page: make the first account, make a key, see how to go on. It also answers `pagePaths`, and shows the
 * plugin's page of the address.
 */
export async function startRoutes(pagePaths: readonly string[]): Promise<AnyRoute[]> {
  const assets = new Map<string, Asset>();
  for (const [path, { file, type }] of Object.entries(files)) {
    assets.set(path, toAsset(await readFile(new URL(`start/${file}`, import.meta.url)), type));
  }
  const start = assets.get("/") as Asset;
  pagePaths.forEach((path) => assets.set(path, start));
  return [...assets].map(([path, asset]) => toRoute(path, asset));
}

function toRoute(path: string, asset: Asset): AnyRoute {
  return defineRoute(
    { method: "GET", path: path as "/", summary: `Page ${path}`, access: "public", hidden: true },
    ({ request }) => replyAsset(request, asset),
  );
}
