import { z } from "zod";
import { defineRoute, reply } from "#kernel/http/route.ts";
import type { Pictures } from "./pictures.ts";

const address = z.url({ protocol: /^https?$/ }).max(4096);

/**
 * A picture of another host for the reader who clicked on it. A POST with a JSON body: no markup of a message, no link
 * and no other site can make a browser send it.
 */
export function pictureRoute(pictures: Pictures) {
  return defineRoute(
    {
      method: "POST",
      path: "/previews/picture",
      summary: "Fetch one picture of another host, without anything of the reader",
      access: "user",
      body: z.object({ url: address }).meta({ id: "RemotePicture" }),
      produces: "image/png",
      fails: [400, 403, 429, 502, 504],
    },
    async ({ caller, body, request }) => {
      const { type, bytes } = await pictures.fetch(caller.userId, body.url, request.signal);
      return reply(bytes, {
        headers: {
          "content-type": type,
          "content-length": bytes.length,
          "content-security-policy": "sandbox; default-src 'none'",
          "cross-origin-resource-policy": "same-origin",
          "x-content-type-options": "nosniff",
          "cache-control": "no-store",
        },
      });
    },
  );
}
