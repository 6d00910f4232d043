import type { CustomFetch, ServerMetadata } from "openid-client";
import type { Claims } from "./claims.ts";
import { fetchFeishuClaims } from "./feishu.ts";
import { fetchGitHubClaims } from "./github.ts";
import type { Provider } from "./providers.ts";

/** The addresses of a provider that has no discovery document. */
export function toPlainServer({ protocol, url, apiUrl }: Provider): ServerMetadata {
  if (protocol === "feishu") {
    return {
      issuer: url,
      authorization_endpoint: `${url}/open-apis/authen/v1/authorize`,
      token_endpoint: `${apiUrl}/open-apis/authen/v2/oauth/token`,
    };
  }
  return {
    issuer: url,
    authorization_endpoint: `${url}/login/oauth/authorize`,
    token_endpoint: `${url}/login/oauth/access_token`,
  };
}

/** The person whom an access token of such a provider stands for, in the claims of OpenID Connect. */
export function fetchPlainClaims(
  provider: Provider,
  accessToken: string,
  fetch: CustomFetch,
): Promise<Claims> {
  const read = provider.protocol === "feishu" ? fetchFeishuClaims : fetchGitHubClaims;
  return read(accessToken, { apiUrl: provider.apiUrl, fetch });
}
