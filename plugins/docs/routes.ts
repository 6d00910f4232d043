import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { AppError } from "#kernel/errors.ts";
import type { OwnedRoute } from "#kernel/http/bind.ts";
import { type AnyRoute, defineRoute, reply } from "#kernel/http/route.ts";
import { type Surface, surfaces } from "#kernel/http/surfaces.ts";
import { toOpenApi } from "./openapi.ts";

const require = createRequire(import.meta.url);

/** The viewer's files; all of them come from this server. */
const assets = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
} as const;

const startScript = `window.ui = SwaggerUIBundle({
  url: document.documentElement.dataset.document,
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
});
`;

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'";

export interface DocsOptions {
  /** Docs are there only while ENV is dev (contract D.3). */
  readonly isDev: boolean;
  readonly version: string;
  routes(): readonly OwnedRoute[];
}

/** The interactive docs of every surface: a page and its openapi.json, 404 outside dev. */
export function docsRoutes(options: DocsOptions): Partial<Record<Surface, AnyRoute[]>> {
  const names = (Object.keys(surfaces) as Surface[]).filter((surface) => surfaces[surface].docs);
  return Object.fromEntries(names.map((surface) => [surface, docsOf(surface, options)]));
}

function docsOf(surface: Surface, { isDev, version, routes }: DocsOptions): AnyRoute[] {
  let document: unknown;
  const hidden = { method: "GET", access: "public", hidden: true } as const;
  if (!isDev) {
    const paths = ["/docs", "/docs/**:file", "/openapi.json"] as const;
    return paths.map((path) => defineRoute({ ...hidden, path, summary: toSummary(path) }, refuse));
  }
  const files = Object.entries(assets).map(([name, type]) =>
    defineRoute({ ...hidden, path: `/docs/${name}`, summary: `Viewer file ${name}` }, async () =>
      reply(await readAsset(name), {
        headers: { "content-type": type, "cache-control": "max-age=86400" },
      }),
    ),
  );
  return [
    ...files,
    defineRoute({ ...hidden, path: "/docs", summary: toSummary("/docs") }, () =>
      reply(toPage(surface), {
        headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy },
      }),
    ),
    defineRoute({ ...hidden, path: "/docs/start.js", summary: "Starts the viewer" }, () =>
      reply(startScript, { headers: { "content-type": "text/javascript; charset=utf-8" } }),
    ),
    // Routes do not change while the process runs, so the document is made once.
    defineRoute(
      { ...hidden, path: "/openapi.json", summary: toSummary("/openapi.json") },
      () => (document ??= toOpenApi(surface, routes(), version)),
    ),
  ];
}

function toSummary(path: string): string {
  return path === "/openapi.json" ? "OpenAPI document" : "Interactive documentation";
}

function refuse(): never {
  throw new AppError("not_found", "Not found");
}

function toPage(surface: Surface): string {
  const { base, title } = surfaces[surface];
  return `<!doctype html>
<html lang="en" data-document="${base}/openapi.json">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace ${title} API (experimental)</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="${base}/docs/swagger-ui-bundle.js"></script>
<script src="${base}/docs/start.js"></script>
</body>
</html>
`;
}

/** The slim image (USE_SLIM_DOCKER) comes without the viewer. */
async function readAsset(name: string): Promise<Buffer> {
  try {
    return await readFile(require.resolve(`swagger-ui-dist/${name}`));
  } catch (cause) {
    throw new AppError("not_found", "The viewer of the docs is not installed.", { cause });
  }
}
