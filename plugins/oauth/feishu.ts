import type { CustomFetch } from "openid-client";
import { z } from "zod";
import type { Claims } from "./claims.ts";
import { SignInFailure } from "./failure.ts";

const optional = z.string().nullish();
const Answer = z.object({
  code: z.literal(0),
  data: z.looseObject({
    open_id: z.string().min(1),
    name: optional,
    en_name: optional,
    avatar_url: optional,
    email: optional,
    enterprise_email: optional,
  }),
});

const path = "/open-apis/authen/v1/user_info";

/**
 * A person of Feishu in the claims of OpenID Connect. `sub` is the id that this app knows the person by, which needs no
 * scope. The address of the enterprise counts as verified, as its administrators set it; another does not.
 */
export async function fetchFeishuClaims(
  accessToken: string,
  { apiUrl, fetch }: { readonly apiUrl: string; readonly fetch: CustomFetch },
): Promise<Claims> {
  const response = await fetch(apiUrl + path, {
    method: "GET",
    headers: { accept: "application/json", authorization: `Bearer ${accessToken}` },
    body: undefined,
    redirect: "manual",
  });
  const parsed = Answer.safeParse(response.ok ? await response.json().catch(() => undefined) : undefined);
  if (!parsed.success) {
    void response.body?.cancel().catch(() => undefined);
    throw new SignInFailure(
      "provider",
      `Feishu answered ${path} with ${response.status}, or not as it does.`,
    );
  }
  const { open_id: sub, enterprise_email: verified, ...data } = parsed.data.data;
  const email = verified || data.email;
  return {
    ...data,
    sub,
    name: data.name || data.en_name || sub,
    ...(data.avatar_url && { picture: data.avatar_url }),
    ...(email && { email, email_verified: Boolean(verified) }),
  };
}
