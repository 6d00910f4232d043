import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  None,
  type ServerMetadata,
} from "openid-client";
import type { Egress } from "#kernel/egress/egress.ts";
import { verifyProviderToken } from "./jwt.ts";
import { toPlainServer } from "./plain-oauth.ts";
import type { Provider } from "./providers.ts";

/** Opens providers: what their discovery documents say, and the client that talks to them. */
export interface Peers {
  /** Throws when the provider cannot be reached or describes itself wrongly. */
  open(provider: Provider): Promise<Configuration>;
  readonly fetch: CustomFetch;
}

export interface PeersParts {
  readonly egress: Pick<Egress, "fetch">;
  timeoutSeconds(): number;
}

/** Keys and addresses of a provider change seldom; a mistake in them is gone after so long. */
const keptMs = 10 * 60_000;
const maxBytes = 1024 * 1024;
/** Clocks of providers may differ by so much. */
const skewSeconds = 60;

/** Creates the door to providers; every request goes through the outbound client, and none is redirected. */
export function createPeers({ egress, timeoutSeconds }: PeersParts): Peers {
  const opened = new Map<string, { readonly until: number; readonly peer: Promise<Configuration> }>();
  const fetch: CustomFetch = (url, { body, headers, method, signal }) =>
    egress.fetch(url, {
      trust: "operator",
      redirects: false,
      method,
      headers: headers as Record<string, string>,
      body: body as string | undefined,
      ...(signal && { signal }),
      timeoutMs: timeoutSeconds() * 1000,
      maxBytes,
    });
  const connect = async (provider: Provider): Promise<Configuration> => {
    const { url, clientId, clientSecret, protocol } = provider;
    const metadata = { [clockTolerance]: skewSeconds, ...(clientSecret && { client_secret: clientSecret }) };
    const auth: ClientAuth = (server, ...rest) => toClientAuth(provider, server)(server, ...rest);
    const isPlain = url.startsWith("http:");
    if (protocol !== "oidc") {
      const peer = new Configuration(toPlainServer(provider), clientId, metadata, auth);
      peer[customFetch] = fetch;
      peer.timeout = timeoutSeconds();
      if (isPlain) {
        allowInsecureRequests(peer);
      }
      return peer;
    }
    const peer = await discovery(new URL(url), clientId, metadata, auth, {
      [customFetch]: fetch,
      timeout: timeoutSeconds(),
      execute: isPlain ? [allowInsecureRequests] : [],
    });
    peer[customFetch] = requireSignatures(peer, fetch);
    return peer;
  };
  return {
    fetch,
    async open(provider) {
      const key = JSON.stringify(provider);
      const known = opened.get(key);
      if (known !== undefined && known.until > Date.now()) {
        return await known.peer;
      }
      const peer = connect(provider);
      opened.set(key, { until: Date.now() + keptMs, peer });
      peer.catch(() => opened.delete(key));
      return await peer;
    },
  };
}

/** The library reads what a provider signs about a person; this looks at the signature, by keys that may have changed. */
function requireSignatures(peer: Configuration, fetch: CustomFetch): CustomFetch {
  return async (url, options) => {
    const answer = await fetch(url, options);
    if (/^application\/jwt\b/i.test(answer.headers.get("content-type") ?? "")) {
      await verifyProviderToken(await answer.clone().text(), peer, { fetch });
    }
    return answer;
  };
}

function toClientAuth({ tokenAuth, clientSecret }: Provider, server: ServerMetadata): ClientAuth {
  const offered = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const method =
    tokenAuth ||
    (clientSecret === ""
      ? "none"
      : offered.includes("client_secret_basic") || !offered.includes("client_secret_post")
        ? "client_secret_basic"
        : "client_secret_post");
  switch (method) {
    case "client_secret_basic":
      return ClientSecretBasic(clientSecret);
    case "client_secret_post":
      return ClientSecretPost(clientSecret);
    default:
      return None();
  }
}
