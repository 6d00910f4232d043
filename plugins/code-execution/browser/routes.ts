import { lookup } from "mrmime";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, reply } from "#kernel/http/route.ts";
import type { Packages } from "./packages.ts";
import { createRuntimeFiles, pyodideVersion } from "./runtime.ts";

/**
 * The files of Pyodide and its packages. Public, as all code of the interface, and for every origin: the frame in which
 * Python runs has none of its own.
 */
export function pyodideRoutes(packages: Packages) {
  const files = createRuntimeFiles();
  const common = { method: "GET", access: "public", hidden: true } as const;
  return [
    defineRoute(
      {
        ...common,
        path: "/pyodide/:version/:file",
        summary: "A file of Python for browsers",
        params: z.object({ version: z.literal(pyodideVersion), file: z.string().max(100) }),
      },
      async ({ params: { file }, request }) => {
        if (file === "pyodide-lock.json") {
          return reply(await packages.lock(), { headers: { ...headers, "cache-control": "no-cache" } });
        }
        const takesBrotli = /\bbr\b(?!\s*;\s*q=0)/.test(String(request.headers["accept-encoding"] ?? ""));
        const found = await files.read(file, takesBrotli);
        if (found === undefined) {
          throw new AppError("not_found", "Not found");
        }
        const encoding = found.encoding && { "content-encoding": found.encoding };
        return reply(found.bytes, { headers: { ...toLasting(file), ...encoding } });
      },
    ),
    defineRoute(
      {
        ...common,
        path: "/pyodide/:version/wheels/:sha256/:file",
        summary: "A package of Python for browsers",
        params: z.object({
          version: z.literal(pyodideVersion),
          sha256: z.string().max(64),
          file: z.string().max(200),
        }),
      },
      async ({ params: { sha256, file } }) => {
        const bytes = await packages.read(sha256);
        if (bytes === undefined) {
          throw new AppError("not_found", "Not found");
        }
        return reply(bytes, { headers: toLasting(file) });
      },
    ),
  ];
}

const headers = {
  "access-control-allow-origin": "*",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/** The address of a file holds its version or hash, so that browsers need not ask again. */
function toLasting(name: string) {
  return {
    ...headers,
    "content-type": lookup(name) ?? "application/octet-stream",
    "cache-control": "public, max-age=31536000, immutable",
    vary: "Accept-Encoding",
  };
}
