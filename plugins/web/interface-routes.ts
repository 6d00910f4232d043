import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { type AnyRoute, defineRoute, reply, type Reply, type RequestInfo } from "#kernel/http/route.ts";
import { places, reservedSegments } from "#kernel/page.ts";
import { html, replyAsset, toContentType } from "./assets.ts";
import type { Icon } from "./brand.ts";
import type { BuiltFile, BuiltInterface } from "./built-interface.ts";
import { filePolicy, toDocumentPolicy, toFramePolicy, toPolicyOrigins, toPythonPolicy } from "./policy.ts";

interface InterfaceParts {
  readonly built: BuiltInterface;
  readonly pagePaths: readonly string[];
  /** Origins that the caller's page calls besides the platform's. */
  ownServers(caller: Principal | undefined): Promise<readonly string[]>;
  /** The operator's icon; undefined for the built-in ones. */
  icon(): Promise<Icon | undefined>;
  /** WEBUI_URL. */
  publicUrl(): string;
}

/** Each opens the first page of its list. */
const sections = places.filter((place) => place !== "main" && place !== "hidden").map((place) => `/${place}`);

/** The page asks for no device that it does not use. */
const documentHeaders = {
  "permissions-policy":
    "microphone=(self), camera=(self), geolocation=(self), display-capture=(self), accelerometer=(), gyroscope=(), magnetometer=(), midi=(), payment=(), serial=(), usb=()",
};
/**
 * A browser that came by https once comes by nothing else for a year; windows that other sites open get no hold of the
 * page, which browsers refuse to keep up without encryption.
 */
const onlyEncrypted = {
  "strict-transport-security": "max-age=31536000",
  "cross-origin-opener-policy": "same-origin-allow-popups",
};

const hidden = { method: "GET", access: "public", hidden: true } as const;
const params = z.object({ file: z.string() });

/** The built interface: its document at the paths of pages, hashed files below `/assets/`, frames and icons. */
export async function interfaceRoutes(parts: InterfaceParts): Promise<AnyRoute[]> {
  return [...documentRoutes(parts), ...fileRoutes(parts), ...(await iconRoutes(parts))];
}

function documentRoutes({ built, pagePaths, ownServers, publicUrl }: InterfaceParts): AnyRoute[] {
  const show = async (request: RequestInfo, caller: Principal | undefined, status = 200) => {
    const document = await built.document();
    if (document === undefined) {
      return reply(missing, missingHead);
    }
    const policy = toDocumentPolicy({
      own: toOwnOrigins(request, publicUrl()),
      called: await ownServers(caller),
    });
    const isEncrypted = request.protocol === "https" || publicUrl().startsWith("https://");
    const headers = isEncrypted ? { ...documentHeaders, ...onlyEncrypted } : documentHeaders;
    return replyAsset(request, { bytes: document.bytes, type: html, policy, status, headers });
  };
  const pages = [...new Set(["/", ...sections, ...pagePaths])].map((path) =>
    defineRoute({ ...hidden, path: path as "/", summary: `Page ${path}` }, ({ request, caller }) =>
      show(request, caller),
    ),
  );
  const unknown = defineRoute(
    { ...hidden, path: "/**:path", summary: "The interface's own page for unknown addresses" },
    ({ request, caller }) => {
      if (!isPageRequest(request)) {
        throw notFound();
      }
      return show(request, caller, 404);
    },
  );
  return [...pages, unknown];
}

/** Browsers that look for a page get the interface, also where there is none; programs get the error of the API. */
function isPageRequest({ url, headers }: RequestInfo): boolean {
  const first = url.split(/[/?]/, 2)[1] ?? "";
  return /\btext\/html\b/.test(headers.accept ?? "") && !reservedSegments.has(first);
}

function fileRoutes({ built, publicUrl }: InterfaceParts): AnyRoute[] {
  return [
    defineRoute(
      { ...hidden, path: "/assets/:file", summary: "A file of the built interface", params },
      async ({ params: { file }, request }) =>
        replyHashed(
          file,
          await built.file(`assets/${file}`, request.headers["accept-encoding"] as string | undefined),
        ),
    ),
    defineRoute(
      { ...hidden, path: "/frames/:file", summary: "A sandboxed frame of the built interface", params },
      async ({ params: { file }, request }) => {
        const frame = file.endsWith(".html") ? await built.file(`frames/${file}`) : undefined;
        if (frame === undefined) {
          throw notFound();
        }
        const own = toOwnOrigins(request, publicUrl());
        const policy = file === "python.html" ? toPythonPolicy(own) : toFramePolicy(own);
        return replyAsset(request, { bytes: frame.bytes, type: html, policy });
      },
    ),
  ];
}

/** The name holds a hash of the content. Frames without an origin of their own load scripts across origins. */
function replyHashed(name: string, file: BuiltFile | undefined): Reply {
  if (file === undefined) {
    throw notFound();
  }
  return reply(file.bytes, {
    headers: {
      "content-type": toContentType(name),
      "content-security-policy": filePolicy,
      "cache-control": "public, max-age=31536000, immutable",
      "access-control-allow-origin": "*",
      vary: "Accept-Encoding",
      ...(file.encoding && { "content-encoding": file.encoding }),
    },
  });
}

/** The address that the browser sees, as far as the request and WEBUI_URL tell it. */
function toOwnOrigins({ protocol, host }: RequestInfo, publicUrl: string): string[] {
  return toPolicyOrigins([`${protocol}://${host}`, publicUrl]);
}

/** Addresses at which browsers and programs look for an icon by themselves. */
const soughtIcons: Readonly<Record<string, string>> = {
  "/favicon.svg": "favicon.svg",
  "/favicon.ico": "192.png",
  "/favicon.png": "192.png",
};

/** `/favicon.svg` and the icons of an installed page; each is the operator's own where there is one. */
async function iconRoutes({ icon }: Pick<InterfaceParts, "icon">): Promise<AnyRoute[]> {
  const folder = fileURLToPath(new URL("icons", import.meta.url));
  const names = (await readdir(folder)).filter((name) => name !== "favicon.svg");
  const paths = { ...soughtIcons, ...Object.fromEntries(names.map((name) => [`/icons/${name}`, name])) };
  return Promise.all(
    Object.entries(paths).map(async ([path, name]) => {
      const own = { bytes: await readFile(`${folder}/${name}`), type: toContentType(name) };
      return defineRoute(
        { ...hidden, path: path as "/", summary: "Icon of the interface" },
        async ({ request }) => replyAsset(request, (await icon()) ?? own),
      );
    }),
  );
}

const notFound = () => new AppError("not_found", "Not found");

const missingHead = {
  status: 503,
  headers: { "content-type": html, "content-security-policy": filePolicy, "cache-control": "no-store" },
};

const missing = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>The interface is not built</title></head>
  <body>
    <h1>The interface is not built</h1>
    <p>The server runs and its API answers, but there are no pages to show. In the folder of the project, run:</p>
    <pre>npm install
npm run build</pre>
    <p>Then load this page again; the server need not be restarted.</p>
  </body>
</html>
`;
