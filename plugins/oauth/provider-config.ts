import { z } from "zod";
import { checkAddress } from "#config/parse.ts";
import { int, json, list, oneOf, text } from "#config/variable.ts";

/** The settings that follow the rules of OAuth persistence (configuration document, persistence rules). */
export const kept = (key: string, line: string) =>
  ({ key: `oauth.${key}`, persisted: true, oauth: true, text: line }) as const;

/** Parameters of the request that the platform sets itself. */
const ownParameters =
  "client_id redirect_uri response_type response_mode scope state nonce code_challenge code_challenge_method request request_uri".split(
    " ",
  );

/** Variables of this provider. */
export const oidc = {
  providerUrl: text("OPENID_PROVIDER_URL", "", {
    ...kept("provider_url", "Address of the provider's discovery document, or its issuer"),
    check: checkAddress,
  }),
  redirectUris: list("OPENID_REDIRECT_URI", [], {
    ...kept(
      "redirect_uri",
      "Addresses of this platform that the provider leads back to; the one of the host that is asked counts",
    ),
    check: addressesRule,
  }),
  endSessionEndpoint: text("OPENID_END_SESSION_ENDPOINT", "", {
    ...kept(
      "end_session_endpoint",
      "Address where signing out goes on at the provider; not set, its discovery document names it",
    ),
    check: checkAddress,
  }),
  clientId: text("OAUTH_CLIENT_ID", "", kept("client_id", "Client that the provider knows the platform as")),
  clientSecret: text("OAUTH_CLIENT_SECRET", "", {
    ...kept("client_secret", "Secret of that client"),
    secret: true,
  }),
  scopes: text("OAUTH_SCOPES", "openid email profile", kept("scopes", "Scopes that sign-ins ask for")),
  providerName: text(
    "OAUTH_PROVIDER_NAME",
    "SSO",
    kept("provider_name", "Name of the provider on the sign-in page"),
  ),
  codeChallengeMethod: oneOf(
    "OAUTH_CODE_CHALLENGE_METHOD",
    ["", "S256", "none"],
    "",
    kept(
      "code_challenge_method",
      "Proof that a sign-in ends where it began (PKCE); empty is S256, none leaves it out",
    ),
  ),
  tokenAuthMethod: oneOf(
    "OAUTH_TOKEN_ENDPOINT_AUTH_METHOD",
    ["", "client_secret_basic", "client_secret_post", "none"],
    "",
    kept(
      "token_endpoint_auth_method",
      "Way in which the secret is shown to the provider; empty takes one that it supports",
    ),
  ),
  audience: text("OAUTH_AUDIENCE", "", kept("audience", "Audience that sign-ins ask tokens for")),
  authorizeParams: json<Record<string, string>>(
    "OAUTH_AUTHORIZE_PARAMS",
    {},
    {
      schema: z.record(z.string(), z.string()),
      ...kept(
        "authorize_params",
        "Further parameters of the address that sign-ins begin at, as a JSON object",
      ),
      check: (params) => {
        const own = Object.keys(params).find((name) => ownParameters.includes(name));
        return own === undefined ? undefined : `must not set ${own}, which the platform sets itself`;
      },
    },
  ),
  timeout: int("OAUTH_TIMEOUT", null, {
    ...kept("timeout", "Seconds after which a provider counts as silent; not set, 15"),
    min: 1,
    max: 120,
  }),
};

/** Variables of this provider. */
export const google = {
  googleClientId: text(
    "GOOGLE_CLIENT_ID",
    "",
    kept("google.client_id", "Client that Google knows the platform as"),
  ),
  googleClientSecret: text("GOOGLE_CLIENT_SECRET", "", {
    ...kept("google.client_secret", "Secret of that client"),
    secret: true,
  }),
  googleScope: text(
    "GOOGLE_OAUTH_SCOPE",
    "openid email profile",
    kept("google.scope", "Scopes that sign-ins with Google ask for"),
  ),
  googleRedirectUris: list("GOOGLE_REDIRECT_URI", [], {
    ...kept("google.redirect_uri", "Addresses of this platform that Google leads back to"),
    check: addressesRule,
  }),
  googleIssuer: text("GOOGLE_ISSUER_URL", "https://accounts.google.com", {
    text: "Issuer of Google's sign-ins",
    check: checkAddress,
  }),
};

/** Variables of this provider. */
export const microsoft = {
  microsoftClientId: text(
    "MICROSOFT_CLIENT_ID",
    "",
    kept("microsoft.client_id", "Client that Microsoft Entra knows the platform as"),
  ),
  microsoftClientSecret: text("MICROSOFT_CLIENT_SECRET", "", {
    ...kept("microsoft.client_secret", "Secret of that client"),
    secret: true,
  }),
  microsoftTenantId: text(
    "MICROSOFT_CLIENT_TENANT_ID",
    "",
    kept(
      "microsoft.tenant_id",
      "Tenant whose people sign in; common, organizations and consumers let in people of others",
    ),
  ),
  microsoftScope: text(
    "MICROSOFT_OAUTH_SCOPE",
    "openid email profile",
    kept("microsoft.scope", "Scopes that sign-ins with Microsoft ask for"),
  ),
  microsoftRedirectUris: list("MICROSOFT_REDIRECT_URI", [], {
    ...kept("microsoft.redirect_uri", "Addresses of this platform that Microsoft leads back to"),
    check: addressesRule,
  }),
  microsoftLoginUrl: text("MICROSOFT_CLIENT_LOGIN_BASE_URL", "https://login.microsoftonline.com", {
    ...kept(
      "microsoft.login_base_url",
      "Address of Microsoft's sign-in, which national clouds have their own of",
    ),
    check: checkAddress,
  }),
  microsoftPictureUrl: text(
    "MICROSOFT_CLIENT_PICTURE_URL",
    "https://graph.microsoft.com/v1.0/me/photo/$value",
    {
      ...kept("microsoft.picture_url", "Address of a person's picture at Microsoft; empty takes none"),
      check: checkAddress,
    },
  ),
};

/** Variables of this provider. */
export const github = {
  githubClientId: text(
    "GITHUB_CLIENT_ID",
    "",
    kept("github.client_id", "Client that GitHub knows the platform as"),
  ),
  githubClientSecret: text("GITHUB_CLIENT_SECRET", "", {
    ...kept("github.client_secret", "Secret of that client"),
    secret: true,
  }),
  githubScope: text(
    "GITHUB_CLIENT_SCOPE",
    "user:email",
    kept("github.scope", "Scopes that sign-ins with GitHub ask for"),
  ),
  githubRedirectUris: list("GITHUB_CLIENT_REDIRECT_URI", [], {
    ...kept("github.redirect_uri", "Addresses of this platform that GitHub leads back to"),
    check: addressesRule,
  }),
  githubUrl: text("GITHUB_URL", "https://github.com", {
    text: "Address of GitHub, or of a GitHub Enterprise Server",
    check: checkAddress,
  }),
  githubApiUrl: text("GITHUB_API_URL", "https://api.github.com", {
    text: "Address of GitHub's interface for programs",
    check: checkAddress,
  }),
};

/** Variables of this provider. */
export const feishu = {
  feishuClientId: text(
    "FEISHU_CLIENT_ID",
    "",
    kept("feishu.client_id", "App that Feishu knows the platform as"),
  ),
  feishuClientSecret: text("FEISHU_CLIENT_SECRET", "", {
    ...kept("feishu.client_secret", "Secret of that app"),
    secret: true,
  }),
  feishuScope: text(
    "FEISHU_OAUTH_SCOPE",
    "contact:user.base:readonly",
    kept("feishu.scope", "Scopes that sign-ins with Feishu ask for"),
  ),
  feishuRedirectUris: list("FEISHU_REDIRECT_URI", [], {
    ...kept("feishu.redirect_uri", "Addresses of this platform that Feishu leads back to"),
    check: addressesRule,
  }),
  feishuUrl: text("FEISHU_URL", "https://accounts.feishu.cn", {
    text: "Address of Feishu's sign-in, or of Lark's: https://accounts.larksuite.com",
    check: checkAddress,
  }),
  feishuApiUrl: text("FEISHU_API_URL", "https://open.feishu.cn", {
    text: "Address of Feishu's interface for programs, or of Lark's: https://open.larksuite.com",
    check: checkAddress,
  }),
};

function addressesRule(addresses: readonly string[]): string | undefined {
  return addresses.map(checkAddress).find((problem) => problem !== undefined);
}
