import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { AppError } from "#kernel/errors.ts";
import { type Challenge, type FetchLike, readChallenge } from "../client/server-fetch.ts";
import { loadSdk } from "../sdk.ts";

/** Whether tokens are asked for with the server's name (RFC 8707): as its metadata say, always, or never. */
export type ResourceMode = "automatic" | "include" | "omit";

/** The authorization server of an MCP server. */
export interface Discovered {
  /** Its address, which its metadata name as the issuer. */
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** Value of the parameter `resource`; undefined where none is sent. */
  readonly resource: string | undefined;
  /** Scopes that the server says it needs. */
  readonly scopes: readonly string[];
}

export interface DiscoveryInput {
  readonly url: string;
  /** The authorization server that an administrator named. */
  readonly authorizationServerUrl: string | undefined;
  readonly resourceMode: ResourceMode;
  readonly challenge: Pick<Challenge, "resourceMetadataUrl" | "scope"> | undefined;
}

/**
 * Finds the authorization server by the metadata of the resource (RFC 9728) and its own (RFC 8414, OpenID discovery).
 * Metadata that speak of another server are refused: a token for it must never come here, or go there.
 */
export async function discover(input: DiscoveryInput, fetchServer: FetchLike): Promise<Discovered> {
  const asked = input.challenge ?? (await probe(input.url, fetchServer));
  const resource = await readResource(input.url, asked?.resourceMetadataUrl, fetchServer);
  const named = input.authorizationServerUrl ?? resource?.authorization_servers?.[0];
  // Servers before the metadata of resources were their own authorization servers, whatever they called themselves.
  const issuer = named ?? String(new URL("/", input.url));
  const metadata = await readServer(issuer, fetchServer);
  if (named !== undefined && metadata !== undefined && !isSameIssuer(metadata.issuer, issuer)) {
    throw refuse("The metadata of the authorization server name another issuer.");
  }
  const challenged = asked?.scope?.split(" ").filter(Boolean);
  return {
    issuer,
    metadata,
    resource: await toResource(input, resource),
    scopes: challenged ?? resource?.scopes_supported ?? [],
  };
}

/** Asks the server without a token: its refusal says where its metadata are. */
async function probe(url: string, fetchServer: FetchLike): Promise<Challenge | undefined> {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "Millrace", version: "1" },
  };
  const response = await fetchServer(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  await response.body?.cancel();
  return readChallenge(response);
}

async function readResource(
  url: string,
  resourceMetadataUrl: string | undefined,
  fetchServer: FetchLike,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const options = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
  const sdk = await loadSdk();
  const metadata = await sdk
    .discoverOAuthProtectedResourceMetadata(url, options, fetchServer)
    .catch((error: unknown) => {
      if (error instanceof AppError) {
        throw error;
      }
      return undefined;
    });
  const requestedResource = sdk.resourceUrlFromServerUrl(url);
  if (
    metadata !== undefined &&
    !sdk.checkResourceAllowed({ requestedResource, configuredResource: metadata.resource })
  ) {
    throw refuse("The metadata of the MCP server name another resource.");
  }
  return metadata;
}

async function readServer(
  issuer: string,
  fetchServer: FetchLike,
): Promise<AuthorizationServerMetadata | undefined> {
  const { discoverAuthorizationServerMetadata } = await loadSdk();
  try {
    return await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetchServer });
  } catch (cause) {
    throw cause instanceof AppError
      ? cause
      : new AppError("upstream", "The metadata of the authorization server cannot be read.", { cause });
  }
}

async function toResource(
  { resourceMode, url }: DiscoveryInput,
  metadata: OAuthProtectedResourceMetadata | undefined,
): Promise<string | undefined> {
  if (resourceMode === "omit") {
    return undefined;
  }
  const { resourceUrlFromServerUrl } = await loadSdk();
  return metadata?.resource ?? (resourceMode === "include" ? resourceUrlFromServerUrl(url).href : undefined);
}

/** RFC 8414 wants them to be identical; a slash at the end is written both ways. */
export function isSameIssuer(one: string, other: string): boolean {
  const plain = (text: string) => (URL.parse(text)?.href ?? text).replace(/\/$/, "");
  return plain(one) === plain(other);
}

function refuse(text: string): AppError {
  return new AppError("invalid", text);
}
