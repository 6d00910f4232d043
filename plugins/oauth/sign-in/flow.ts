import { createHash, randomBytes } from "node:crypto";
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from "openid-client";
import { AppError } from "#kernel/errors.ts";
import { findCookie } from "#kernel/http/credential.ts";
import type { RequestInfo } from "#kernel/http/route.ts";
import type { Seal } from "#kernel/seal.ts";
import type { Claims } from "../claims.ts";
import { SignInFailure, toFailure } from "../failure.ts";
import { verifyProviderToken } from "../jwt.ts";
import { fetchPlainClaims } from "../plain-oauth.ts";
import type { Peers } from "../peer.ts";
import type { Provider } from "../providers.ts";
import type { UsedStates } from "../sessions/used-states.ts";

/** People look for passwords and second factors: at least fifteen minutes (promise 11). */
const flowSeconds = 20 * 60;

/** A sign-in on its way; it travels in a cookie of the browser that began it, sealed, so that no other can end it. */
interface Flow {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  /** Path of this server where the person goes on. */
  readonly returnTo: string | undefined;
  /** The administrator who only tries it. */
  readonly trialOf: string | undefined;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** What lets a person choose another account. Every OpenID provider knows "login"; only some know "select_account". */
function toChoice({ id }: Provider, peer: Configuration): Record<string, string> {
  if (id === "feishu") {
    return {};
  }
  const known = peer.serverMetadata()["prompt_values_supported"];
  const selects = id !== "oidc" || (Array.isArray(known) && known.includes("select_account"));
  return { prompt: selects ? "select_account" : "login" };
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  /** Epoch milliseconds; undefined when the provider does not say. */
  readonly expiresAt: number | undefined;
}

/** What came back from a provider. */
export interface Returned {
  readonly claims: Claims;
  readonly tokens: Tokens;
}

export interface FlowsParts {
  readonly peers: Peers;
  readonly seal: Seal;
  readonly used: UsedStates;
}

export type Flows = ReturnType<typeof createFlows>;

/** Creates sign-ins by authorization code, with PKCE, nonce, and a state that is bound to the browser (appendix A6). */
export function createFlows({ peers, seal, used }: FlowsParts) {
  return {
    /** Resolves to the provider's address and the cookie that the browser needs on its way back. */
    async start(
      provider: Provider,
      options: Pick<Flow, "redirectUri" | "returnTo" | "trialOf"> & {
        readonly request: RequestInfo;
        /** After a refusal: the account that the provider knows would be refused again. */
        readonly choosesAccount: boolean;
      },
    ): Promise<{ readonly address: string; readonly cookie: string }> {
      const peer = await peers.open(provider);
      const { request, choosesAccount, ...given } = options;
      const flow: Flow = {
        provider: provider.id,
        state: randomBytes(24).toString("base64url"),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
        until: Date.now() + flowSeconds * 1000,
        ...given,
      };
      const address = buildAuthorizationUrl(peer, {
        ...provider.parameters,
        redirect_uri: flow.redirectUri,
        scope: provider.scope,
        state: flow.state,
        ...(provider.protocol === "oidc" && { nonce: flow.nonce }),
        ...(provider.usesPkce && {
          code_challenge: await calculatePKCECodeChallenge(flow.verifier),
          code_challenge_method: "S256",
        }),
        ...(choosesAccount && toChoice(provider, peer)),
        // Whoever tries a login wants to see it all, not the session that the provider has already.
        ...(flow.trialOf !== undefined && provider.protocol === "oidc" && { prompt: "login" }),
      });
      const sealed = seal.seal(flow, `flow ${flow.state}`);
      return { address: address.href, cookie: toCookie(flow.state, sealed, flowSeconds, request) };
    },

    /** The sign-in that the browser's answer belongs to. Throws SignInFailure for one that is not its own, or was used. */
    async take(providerId: string, request: RequestInfo): Promise<Flow> {
      const state = toUrl(request, "http://local.invalid").searchParams.get("state") ?? "";
      const sealed = state === "" ? undefined : findCookie(request.headers.cookie, cookieName(state));
      const flow = sealed === undefined ? undefined : openFlow(seal, sealed, state);
      if (
        flow === undefined ||
        flow.state !== state ||
        flow.provider !== providerId ||
        flow.until < Date.now()
      ) {
        throw new SignInFailure(
          "state",
          "The sign-in began in another browser, at another provider, or too long ago.",
        );
      }
      if (!(await used.use(`state ${state}`, flowSeconds))) {
        throw new SignInFailure("state", "The sign-in was ended already.");
      }
      return flow;
    },

    /** Changes the code for tokens and reads who it is. Throws what `toFailure` reads. */
    finish: (provider: Provider, flow: Flow, request: RequestInfo): Promise<Returned> =>
      readReturned({ provider, flow, request }, { peers }),

    clear: (request: RequestInfo): string[] => {
      const state = toUrl(request, "http://local.invalid").searchParams.get("state") ?? "";
      return state === "" ? [] : [toCookie(state, "", 0, request)];
    },
  };
}

async function readReturned(
  {
    provider,
    flow,
    request,
  }: { readonly provider: Provider; readonly flow: Flow; readonly request: RequestInfo },
  { peers }: Pick<FlowsParts, "peers">,
): Promise<Returned> {
  const peer = await peers.open(provider);
  const isOidc = provider.protocol === "oidc";
  const answer = await authorizationCodeGrant(peer, toUrl(request, flow.redirectUri), {
    expectedState: flow.state,
    ...(provider.usesPkce && { pkceCodeVerifier: flow.verifier }),
    ...(isOidc && { expectedNonce: flow.nonce, idTokenExpected: true }),
  });
  const tokens = toTokens(answer);
  if (!isOidc) {
    return { claims: await fetchPlainClaims(provider, tokens.accessToken, peers.fetch), tokens };
  }
  const identity = answer.claims();
  if (identity === undefined || tokens.idToken === undefined) {
    throw new SignInFailure("provider", "The provider sent no ID token.");
  }
  await requireSigned(tokens.idToken, peer, peers);
  const more =
    peer.serverMetadata().userinfo_endpoint === undefined
      ? {}
      : await fetchUserInfo(peer, tokens.accessToken, identity.sub);
  return { claims: { ...identity, ...more }, tokens };
}

/** The library reads the claims of an ID token; this looks at its signature. Throws SignInFailure. */
export async function requireSigned(idToken: string, peer: Configuration, { fetch }: Pick<Peers, "fetch">) {
  try {
    await verifyProviderToken(idToken, peer, { fetch });
  } catch (error) {
    const cause = (error as Error).cause ?? error;
    throw cause instanceof AppError
      ? toFailure(cause)
      : new SignInFailure(
          "provider",
          `The ID token is not signed by the provider: ${(cause as Error).message}`,
          {
            cause: error,
          },
        );
  }
}

export function toTokens(answer: TokenEndpointResponse & TokenEndpointResponseHelpers): Tokens {
  const seconds = answer.expiresIn();
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token,
    idToken: answer.id_token,
    expiresAt: seconds === undefined ? undefined : Date.now() + seconds * 1000,
  };
}

function openFlow(seal: Seal, sealed: string, state: string): Flow | undefined {
  try {
    return seal.open(sealed, `flow ${state}`) as Flow;
  } catch {
    return undefined;
  }
}

/** The address that the browser came back to: that of the request with the answer's parameters. */
function toUrl({ url }: RequestInfo, base: string): URL {
  const back = new URL(base);
  const at = url.indexOf("?");
  back.search = at < 0 ? "" : url.slice(at);
  return back;
}

/** One cookie for each sign-in on its way, named after its state. */
function cookieName(state: string): string {
  return `oauth_sign_in_${createHash("sha256").update(state).digest("hex").slice(0, 16)}`;
}

function toCookie(state: string, value: string, seconds: number, { protocol }: RequestInfo): string {
  const secure = protocol === "https" ? "; Secure" : "";
  return `${cookieName(state)}=${encodeURIComponent(value)}; Path=/oauth; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}
