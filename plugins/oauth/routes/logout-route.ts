import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defaultPatience, readText } from "#kernel/http/body.ts";
import { defineRoute, reply } from "#kernel/http/route.ts";
import type { OAuth } from "../create-oauth.ts";

const maxBody = 64 * 1024;

/** `POST /oauth/backchannel-logout`: a form with a logout token, sent by the provider (appendix A6). */
export function logoutRoute({ backchannel, config }: Pick<OAuth, "backchannel" | "config">) {
  return defineRoute(
    {
      method: "POST",
      path: "/oauth/backchannel-logout",
      summary: "End sessions as a provider asks for it",
      access: "public",
      rawBody: true,
      returns: z.object({ status: z.literal(true) }),
      fails: [400, 404, 413],
      hasOrigin: true,
    },
    async ({ raw }) => {
      if (!config.backchannelLogout) {
        throw new AppError(
          "not_found",
          "Providers do not end sessions here (ENABLE_OAUTH_BACKCHANNEL_LOGOUT).",
        );
      }
      const text = await readText(raw as never, { maxBytes: maxBody, ...defaultPatience });
      const token = new URLSearchParams(text).get("logout_token");
      if (!token) {
        throw new AppError("invalid", "The form must hold a logout_token.");
      }
      await backchannel(token);
      return reply({ status: true }, { headers: { "cache-control": "no-store" } });
    },
  );
}
