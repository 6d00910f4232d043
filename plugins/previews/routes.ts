import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, reply } from "#kernel/http/route.ts";
import { toPreviewPolicy } from "./policy.ts";
import type { Previews } from "./previews.ts";

const NewPreview = z
  .object({ kind: z.enum(["html", "svg"]), content: z.string() })
  .meta({ id: "NewPreview" });
const Preview = z.object({ id: z.string(), expires_at: z.int() }).meta({ id: "Preview" });
const params = z.object({ id: z.string() });
const types = { html: "text/html; charset=utf-8", svg: "image/svg+xml; charset=utf-8" } as const;
/** Quotes and line breaks of a document take two bytes each in JSON. */
const maxBody = 12_000_000;

/** Putting documents down, which needs an account, and reading them, which needs their id alone. */
export function previewRoutes(previews: Previews, iframeCsp: () => string) {
  const add = defineRoute(
    {
      method: "POST",
      path: "/previews",
      summary: "Put a document down that a sandboxed frame can show for ten minutes",
      access: "user",
      body: NewPreview,
      maxBody,
      returns: Preview,
      fails: [413],
    },
    ({ caller, body }) => previews.add(caller.userId, body),
  );
  const remove = defineRoute(
    {
      method: "DELETE",
      path: "/previews/:id",
      summary: "Remove one of the caller's previews before its time",
      access: "user",
      params,
    },
    ({ caller, params: { id } }) => previews.remove(caller.userId, id),
  );
  const show = defineRoute(
    {
      method: "GET",
      path: "/preview/:id",
      summary: "Show a preview in its frame",
      access: "public",
      params,
      produces: "text/html",
      hidden: true,
    },
    async ({ params: { id }, request }) => {
      requireFrame(request.headers["sec-fetch-dest"]);
      const { kind, content } = await previews.read(id);
      return reply(content, {
        headers: {
          "content-type": types[kind],
          "content-security-policy": toPreviewPolicy(kind, iframeCsp()),
          "cross-origin-resource-policy": "same-origin",
          "referrer-policy": "no-referrer",
          "cache-control": "no-store",
          "x-dns-prefetch-control": "off",
        },
      });
    },
  );
  return { api: [add, remove], main: [show] };
}

/** As a page of its own it could pass for the platform's, under the platform's address. */
function requireFrame(destination: string | string[] | undefined): void {
  if (destination !== undefined && destination !== "iframe") {
    throw new AppError("forbidden", "A preview is shown inside its chat only.");
  }
}
