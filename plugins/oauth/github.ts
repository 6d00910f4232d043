import type { CustomFetch } from "openid-client";
import { z } from "zod";
import type { Claims } from "./claims.ts";
import { SignInFailure } from "./failure.ts";

const User = z.looseObject({
  id: z.number(),
  login: z.string(),
  name: z.string().nullish(),
  email: z.string().nullish(),
  avatar_url: z.string().nullish(),
});
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/** A person of GitHub in the claims of OpenID Connect: the primary address, which GitHub has verified or not. */
export async function fetchGitHubClaims(
  accessToken: string,
  { apiUrl, fetch }: { readonly apiUrl: string; readonly fetch: CustomFetch },
): Promise<Claims> {
  const read = async <T>(path: string, shape: z.ZodType<T>): Promise<T> => {
    const response = await fetch(apiUrl + path, {
      method: "GET",
      headers: { accept: "application/vnd.github+json", authorization: `Bearer ${accessToken}` },
      body: undefined,
      redirect: "manual",
    });
    const parsed = shape.safeParse(response.ok ? await response.json().catch(() => undefined) : undefined);
    if (!parsed.success) {
      void response.body?.cancel().catch(() => undefined);
      throw new SignInFailure(
        "provider",
        `GitHub answered ${path} with ${response.status}, or not as it does.`,
      );
    }
    return parsed.data;
  };
  const { id, login, name, email, avatar_url: picture } = await read("/user", User);
  // Without the scope user:email the list is refused, and only a public address is known, verified or not.
  const emails = await read("/user/emails", Emails).catch(() => []);
  const own = emails.find((each) => each.primary) ?? emails.find((each) => each.verified);
  return {
    sub: String(id),
    preferred_username: login,
    name: name || login,
    ...(picture && { picture }),
    ...(own ? { email: own.email, email_verified: own.verified } : email ? { email } : {}),
  };
}
