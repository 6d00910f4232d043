import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { OAuth } from "../create-oauth.ts";

/** `POST /api/v1/auths/oauth/{provider}/token/exchange` (contract §1.2). */
export function exchangeRoute({ exchange }: Pick<OAuth, "exchange">) {
  return defineRoute(
    {
      method: "POST",
      path: "/auths/oauth/:provider/token/exchange",
      summary: "Change a token of a provider for a session",
      access: "public",
      params: z.object({ provider: z.string().min(1).max(50) }),
      body: z.object({ token: z.string().min(1).max(20_000) }),
      maxBody: 32 * 1024,
      returns: z.looseObject({}),
      fails: [400, 401, 403, 404, 413, 429],
    },
    ({ params, body, request }) => exchange(params.provider, body.token, request),
  );
}
