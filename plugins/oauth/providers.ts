import type { OAuthConfig } from "./config.ts";

/** A provider that people sign in with, as the settings describe it. */
export interface Provider {
  readonly id: "oidc" | "google" | "microsoft" | "github" | "feishu";
  readonly label: string;
  /** GitHub and Feishu speak OAuth without OpenID Connect, each with an interface of its own for people. */
  readonly protocol: "oidc" | "github" | "feishu";
  /** Discovery document or issuer; without OpenID Connect the address that sign-ins begin at. */
  readonly url: string;
  /** Address of the interface that tells about people, without OpenID Connect. */
  readonly apiUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
  /** Addresses that the provider leads back to; empty leaves it to WEBUI_URL. */
  readonly redirectUris: readonly string[];
  readonly usesPkce: boolean;
  readonly tokenAuth: "" | "client_secret_basic" | "client_secret_post" | "none";
  /** Further parameters of the authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  /**
   * Vouches for addresses without the claim `email_verified`: the tenant's own administrators set them. A tenant that is
   * open to others does not, as anybody may call an account of their own by any address there.
   */
  readonly vouchesForEmail: boolean;
  /** Address of the picture, where no claim holds one. */
  readonly pictureUrl: string;
  readonly endSessionUrl: string;
}

const openTenants = new Set(["common", "organizations", "consumers"]);

/** The providers that are set up, in the order of the sign-in page (appendix A6, OAuth). */
export function listProviders(config: OAuthConfig): Provider[] {
  if (!config.enabled) {
    return [];
  }
  const all = [toGoogle(config), toMicrosoft(config), toGitHub(config), toFeishu(config), toOidc(config)];
  return all.filter(({ clientId, url }) => clientId !== "" && url !== "");
}

export function findProvider(config: OAuthConfig, id: string): Provider | undefined {
  return listProviders(config).find((provider) => provider.id === id);
}

const plain = {
  protocol: "oidc",
  apiUrl: "",
  tokenAuth: "",
  vouchesForEmail: false,
  pictureUrl: "",
  endSessionUrl: "",
} as const;

function shared(config: OAuthConfig) {
  return { ...plain, parameters: config.authorizeParams, usesPkce: config.codeChallengeMethod !== "none" };
}

function toOidc(config: OAuthConfig): Provider {
  const { audience, authorizeParams } = config;
  return {
    ...shared(config),
    id: "oidc",
    label: config.providerName || "SSO",
    url: config.providerUrl,
    clientId: config.clientId,
    clientSecret: config.clientSecret,
    scope: config.scopes,
    redirectUris: config.redirectUris,
    tokenAuth: config.tokenAuthMethod,
    parameters: audience === "" ? authorizeParams : { audience, ...authorizeParams },
    endSessionUrl: config.endSessionEndpoint,
  };
}

function toGoogle(config: OAuthConfig): Provider {
  return {
    ...shared(config),
    id: "google",
    label: "Google",
    url: config.googleIssuer,
    clientId: config.googleClientId,
    clientSecret: config.googleClientSecret,
    scope: config.googleScope,
    redirectUris: config.googleRedirectUris,
  };
}

function toMicrosoft(config: OAuthConfig): Provider {
  const tenant = config.microsoftTenantId;
  return {
    ...shared(config),
    id: "microsoft",
    label: "Microsoft",
    url:
      tenant === ""
        ? ""
        : `${config.microsoftLoginUrl.replace(/\/$/, "")}/${encodeURIComponent(tenant)}/v2.0`,
    clientId: config.microsoftClientId,
    clientSecret: config.microsoftClientSecret,
    scope: config.microsoftScope,
    redirectUris: config.microsoftRedirectUris,
    vouchesForEmail: !openTenants.has(tenant.toLowerCase()),
    pictureUrl: config.microsoftPictureUrl,
  };
}

function toGitHub(config: OAuthConfig): Provider {
  return {
    ...shared(config),
    id: "github",
    label: "GitHub",
    protocol: "github",
    url: withoutSlash(config.githubUrl),
    apiUrl: withoutSlash(config.githubApiUrl),
    clientId: config.githubClientId,
    clientSecret: config.githubClientSecret,
    scope: config.githubScope,
    redirectUris: config.githubRedirectUris,
    tokenAuth: "client_secret_post",
  };
}

function toFeishu(config: OAuthConfig): Provider {
  return {
    ...shared(config),
    id: "feishu",
    label: "Feishu",
    protocol: "feishu",
    url: withoutSlash(config.feishuUrl),
    apiUrl: withoutSlash(config.feishuApiUrl),
    clientId: config.feishuClientId,
    clientSecret: config.feishuClientSecret,
    scope: config.feishuScope,
    redirectUris: config.feishuRedirectUris,
    tokenAuth: "client_secret_post",
  };
}

function withoutSlash(address: string): string {
  return address.replace(/\/$/, "");
}
