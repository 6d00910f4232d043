import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { AppError } from "#kernel/errors.ts";
import type { FetchLike } from "../client/server-fetch.ts";
import { loadSdk, type McpSdk } from "../sdk.ts";
import { type Discovered, isSameIssuer } from "./discovery.ts";

/** What an authorization server knows the platform as. */
export interface ClientRegistration {
  readonly information: OAuthClientInformationMixed;
  /** The authorization server that it was made with; undefined for one that an administrator entered. */
  readonly issuer: string | undefined;
  /** The MCP server that an administrator entered it for: its secret never goes anywhere else. */
  readonly url?: string | undefined;
}

/** A sign-in that waits for the person to come back. */
export interface PendingSignIn {
  readonly url: string;
  readonly verifier: string;
  readonly redirectUrl: string;
  readonly scope: string | undefined;
  readonly discovered: Discovered;
  readonly client: ClientRegistration;
}

/** Tokens of one person at one server, with all that is needed to renew them. */
export interface TokenSet {
  /** The MCP server that they are for: they never go to another address. */
  readonly url: string;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Epoch milliseconds; undefined when the server does not say. */
  readonly expiresAt: number | undefined;
  readonly scope: string | undefined;
  readonly discovered: Discovered;
  readonly client: ClientRegistration;
}

export interface RegistrationInput {
  readonly name: string;
  readonly redirectUrl: string;
  readonly scope: string | undefined;
  /** Address of the document that describes the platform to servers that read one instead of registering. */
  readonly documentUrl: string | undefined;
}

/** Registers with an authorization server, or names the document that stands for a registration (I43). */
export async function register(
  { issuer, metadata }: Discovered,
  input: RegistrationInput,
  fetchFn: FetchLike,
): Promise<ClientRegistration> {
  if (metadata?.client_id_metadata_document_supported === true && input.documentUrl?.startsWith("https:")) {
    return { issuer, information: { client_id: input.documentUrl } };
  }
  const methods = metadata?.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const method = ["client_secret_basic", "client_secret_post", "none"].find((each) => methods.includes(each));
  const clientMetadata = { ...describeClient(input), token_endpoint_auth_method: method ?? "none" };
  const information = await asUpstream("register this platform", (sdk) =>
    sdk.registerClient(issuer, {
      ...(metadata && { metadata }),
      clientMetadata,
      ...(input.scope !== undefined && { scope: input.scope }),
      fetchFn,
    }),
  );
  return { issuer, information };
}

/** The platform as an OAuth client. */
export function describeClient({ name, redirectUrl }: Pick<RegistrationInput, "name" | "redirectUrl">) {
  return {
    client_name: name,
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
}

export interface StartInput {
  readonly url: string;
  readonly discovered: Discovered;
  readonly client: ClientRegistration;
  readonly redirectUrl: string;
  readonly state: string;
  readonly scope: string | undefined;
}

/** The address where the person signs in, with PKCE (S256), and what the callback needs. */
export async function startSignIn(
  input: StartInput,
): Promise<{ readonly address: string; readonly pending: PendingSignIn }> {
  const { url, discovered, client, redirectUrl, state, scope } = input;
  if (client.issuer !== undefined && !isSameIssuer(client.issuer, discovered.issuer)) {
    throw new AppError("invalid", "The registration was made with another authorization server.");
  }
  const started = await asUpstream("begin the sign-in", (sdk) =>
    sdk.startAuthorization(discovered.issuer, {
      ...(discovered.metadata && { metadata: discovered.metadata }),
      clientInformation: client.information,
      redirectUrl,
      state,
      ...(scope !== undefined && { scope }),
      ...(discovered.resource !== undefined && { resource: discovered.resource }),
    }),
  );
  const pending = { url, verifier: started.codeVerifier, redirectUrl, scope, discovered, client };
  return { address: started.authorizationUrl.href, pending };
}

/** Changes the code of a callback for tokens. `issuer` is the parameter `iss`, where the server sent one (RFC 9207). */
export async function finishSignIn(
  pending: PendingSignIn,
  { code, issuer }: { readonly code: string; readonly issuer: string | undefined },
  fetchFn: FetchLike,
): Promise<TokenSet> {
  const { discovered, client, verifier, redirectUrl } = pending;
  if (issuer !== undefined && !isSameIssuer(issuer, discovered.metadata?.issuer ?? discovered.issuer)) {
    throw new AppError("invalid", "The answer comes from another authorization server.");
  }
  const tokens = await asUpstream("exchange the code", (sdk) =>
    sdk.exchangeAuthorization(discovered.issuer, {
      ...toRequest({ sdk, discovered, client, fetchFn }),
      authorizationCode: code,
      codeVerifier: verifier,
      redirectUri: redirectUrl,
    }),
  );
  return toTokenSet(tokens, pending);
}

/** New tokens for old ones. Throws `unauthenticated` when the server refuses: the person has to sign in again (I49). */
export async function refresh(set: TokenSet, fetchFn: FetchLike): Promise<TokenSet> {
  const { discovered, client, refreshToken } = set;
  if (refreshToken === undefined) {
    throw new AppError("unauthenticated", "The sign-in has expired.");
  }
  const tokens = await asUpstream("renew the sign-in", (sdk) =>
    sdk.refreshAuthorization(discovered.issuer, {
      ...toRequest({ sdk, discovered, client, fetchFn }),
      refreshToken,
    }),
  );
  return toTokenSet(tokens, set);
}

/** Takes tokens back at the authorization server (RFC 7009), where it can; what fails is left to expire. */
export async function revoke({ discovered, client, ...set }: TokenSet, fetchFn: FetchLike): Promise<void> {
  const metadata = discovered.metadata as RevocationMetadata | undefined;
  if (metadata?.revocation_endpoint === undefined) {
    return;
  }
  const offered =
    metadata.revocation_endpoint_auth_methods_supported ?? metadata.token_endpoint_auth_methods_supported;
  const body = new URLSearchParams({
    token: set.refreshToken ?? set.accessToken,
    token_type_hint: set.refreshToken === undefined ? "access_token" : "refresh_token",
  });
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
  authenticate(await loadSdk(), client.information, { offered, headers, body });
  const response = await fetchFn(metadata.revocation_endpoint, { method: "POST", headers, body });
  await response.body?.cancel();
}

/**
 * Tells the authorization server who asks. Servers of the Python SDK (FastMCP) look the client up by the `client_id` of the
 * body whichever way its secret comes: where they offer to read the secret there, the id stands there, too.
 */
function authenticate(
  sdk: McpSdk,
  information: OAuthClientInformationMixed,
  {
    offered = [],
    headers,
    body,
  }: { readonly offered: string[] | undefined; readonly headers: Headers; readonly body: URLSearchParams },
): void {
  const { client_id: id, client_secret: secret = "" } = information;
  const method = sdk.selectClientAuthMethod(information, offered);
  if (method === "client_secret_basic") {
    headers.set("authorization", `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`);
  }
  if (method !== "client_secret_basic" || offered.includes("client_secret_post")) {
    body.set("client_id", id);
  }
  if (method === "client_secret_post") {
    body.set("client_secret", secret);
  }
}

interface RevocationMetadata {
  readonly revocation_endpoint?: string;
  readonly revocation_endpoint_auth_methods_supported?: string[];
  readonly token_endpoint_auth_methods_supported?: string[];
}

function toRequest({
  sdk,
  discovered: { metadata, resource },
  client,
  fetchFn,
}: {
  readonly sdk: McpSdk;
  readonly discovered: Discovered;
  readonly client: ClientRegistration;
  readonly fetchFn: FetchLike;
}) {
  return {
    ...(metadata && { metadata }),
    clientInformation: client.information,
    addClientAuthentication: (headers: Headers, body: URLSearchParams) =>
      authenticate(sdk, client.information, {
        offered: metadata?.token_endpoint_auth_methods_supported,
        headers,
        body,
      }),
    ...(resource !== undefined && { resource }),
    fetchFn,
  };
}

function toTokenSet(tokens: OAuthTokens, from: Omit<PendingSignIn, "verifier" | "redirectUrl">): TokenSet {
  return {
    url: from.url,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    expiresAt: tokens.expires_in === undefined ? undefined : Date.now() + tokens.expires_in * 1000,
    // RFC 6749 §5.1: left out where it is what was asked for.
    scope: tokens.scope ?? from.scope,
    discovered: from.discovered,
    client: from.client,
  };
}

/** Errors that mean that a token or registration no longer counts. */
const refusals = new Set(["invalid_grant", "invalid_client", "unauthorized_client", "invalid_token"]);

async function asUpstream<R>(action: string, run: (sdk: McpSdk) => Promise<R>): Promise<R> {
  const sdk = await loadSdk();
  try {
    return await run(sdk);
  } catch (cause) {
    if (cause instanceof AppError) {
      throw cause;
    }
    const isRefusal = cause instanceof sdk.OAuthError && refusals.has(cause.errorCode);
    const reason = cause instanceof sdk.OAuthError ? ` (${cause.errorCode})` : "";
    const text = `The authorization server did not ${action}${reason}.`;
    throw new AppError(isRefusal ? "unauthenticated" : "upstream", text, { cause });
  }
}

/** The scopes to ask for: what the server wants, else what the administrator set, beside what was given already. */
export function toScope(
  discovered: Discovered,
  { configured, granted }: { readonly configured: string | undefined; readonly granted: string | undefined },
): string | undefined {
  const words = (text: string | undefined) => text?.split(" ").filter(Boolean) ?? [];
  const wanted = discovered.scopes.length > 0 ? discovered.scopes : words(configured);
  const all = new Set([...words(granted), ...wanted]);
  // A refresh token is what lets a run go on while nobody is there to sign in.
  const offline = discovered.metadata?.scopes_supported?.includes("offline_access") === true;
  if (offline && all.size > 0) {
    all.add("offline_access");
  }
  return all.size === 0 ? undefined : [...all].join(" ");
}
