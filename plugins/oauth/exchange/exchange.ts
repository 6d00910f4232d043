import { fetchUserInfo, skipSubjectCheck, tokenIntrospection } from "openid-client";
import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import type { Reply, RequestInfo } from "#kernel/http/route.ts";
import type { Claims } from "../claims.ts";
import { SignInFailure, toFailure } from "../failure.ts";
import { fetchPlainClaims } from "../plain-oauth.ts";
import { peek, verifyProviderToken } from "../jwt.ts";
import type { Peers } from "../peer.ts";
import { findProvider, type Provider } from "../providers.ts";
import { toPerson } from "../rules.ts";
import type { CompletionParts } from "../sign-in/complete.ts";
import type { OAuthDatabase } from "../tables.ts";

export interface ExchangeParts extends Pick<CompletionParts, "config" | "signIn"> {
  readonly peers: Peers;
  readonly db: OAuthDatabase;
}

/** Changes a person's token of a provider for a session (contract §1.2); people without an account are refused. */
export function createExchange(parts: ExchangeParts) {
  const { config, signIn } = parts;
  /** Throws `forbidden`, `not_found`, `rate_limited`, `unauthenticated`. */
  return async (providerId: string, token: string, request: RequestInfo): Promise<Reply> => {
    if (!config.tokenExchange) {
      throw new AppError(
        "forbidden",
        "Tokens are not changed for sessions here (ENABLE_OAUTH_TOKEN_EXCHANGE).",
      );
    }
    const provider = findProvider(config, providerId);
    if (provider === undefined) {
      throw new AppError("not_found", "There is no such sign-in provider.");
    }
    await enter(request.address, parts);
    try {
      const { identity } = toPerson(await readClaims(provider, token, parts), { provider, config });
      if ((await signIn.findLinked(identity.link)) === undefined) {
        throw new AppError("forbidden", "Nobody has signed in here with this account yet.");
      }
      return await signIn.signIn(identity, { method: "oauth", request });
    } catch (error) {
      throw toRefusal(error);
    }
  };
}

async function readClaims(provider: Provider, token: string, parts: ExchangeParts): Promise<Claims> {
  const { config, peers } = parts;
  const accepted = new Set([provider.clientId, ...config.trustedClients]);
  const isOurs = (claims: Claims) => isFor(claims, accepted);
  if (provider.protocol === "github") {
    await requireGitHubClient(provider, token, parts);
    return await fetchPlainClaims(provider, token, peers.fetch);
  }
  if (provider.protocol === "feishu") {
    throw new AppError("unauthenticated", "Feishu does not tell for which app a token was made.");
  }
  const peer = await peers.open(provider);
  const server = peer.serverMetadata();
  if (peek(token) !== undefined) {
    const claims = await verifyProviderToken(token, peer, { fetch: peers.fetch });
    requireOurs(isOurs(claims));
    // An ID token holds the claims itself, and the provider takes it for nothing else.
    if (
      claims["nonce"] !== undefined ||
      claims[config.emailClaim] !== undefined ||
      !server.userinfo_endpoint
    ) {
      return claims;
    }
    return { ...claims, ...(await fetchUserInfo(peer, token, claims.sub ?? skipSubjectCheck)) };
  }
  if (server.introspection_endpoint === undefined || !server.userinfo_endpoint) {
    throw new AppError(
      "unauthenticated",
      "The provider does not tell for whom this token was made. Send the ID token instead.",
    );
  }
  const facts = await tokenIntrospection(peer, token);
  requireOurs(facts.active && isOurs(facts));
  return { ...(await fetchUserInfo(peer, token, facts.sub ?? skipSubjectCheck)) };
}

/** GitHub tells an application alone whether a token is its own. */
async function requireGitHubClient(
  { apiUrl, clientId, clientSecret }: Provider,
  token: string,
  { peers }: ExchangeParts,
): Promise<void> {
  const response = await peers.fetch(`${apiUrl}/applications/${encodeURIComponent(clientId)}/token`, {
    method: "POST",
    headers: {
      accept: "application/vnd.github+json",
      "content-type": "application/json",
      authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`,
    },
    body: JSON.stringify({ access_token: token }),
    redirect: "manual",
  });
  await response.body?.cancel();
  requireOurs(response.status === 200);
}

/** Counts over all replicas, in windows of the database's clock. */
async function enter(address: string, { config, db }: ExchangeParts): Promise<void> {
  const { exchangeLimit: limit, exchangeWindow: window } = config;
  const { rows } = await sql<{ tries: number; wait: number }>`
    with clock as (select floor(extract(epoch from clock_timestamp()))::bigint as now)
    insert into oauth_exchange_try as t (address, window_start, tries)
    select ${address}, now - now % ${window}::bigint, 1 from clock
    on conflict (address, window_start) do update set tries = t.tries + 1
    returning tries, (window_start + ${window}::bigint - floor(extract(epoch from clock_timestamp()))::bigint)::int as wait
  `.execute(db);
  const [row] = rows;
  if (row !== undefined && row.tries > limit) {
    throw new AppError("rate_limited", "Too many tokens were exchanged from here. Try again later.", {
      retryAfter: Math.max(1, row.wait),
    });
  }
}

/** The client that a token was made for is one of these (promise S91): `azp` decides where there is one. */
function isFor(claims: Claims, accepted: ReadonlySet<string>): boolean {
  const party = claims["azp"] ?? claims["client_id"];
  if (typeof party === "string") {
    return accepted.has(party);
  }
  return [claims["aud"]].flat().some((each) => typeof each === "string" && accepted.has(each));
}

function requireOurs(isOurs: boolean): void {
  if (!isOurs) {
    throw new AppError("unauthenticated", "The token was made for another client.");
  }
}

/** Refusals of rules are 403; whatever else a provider says about the token, it is no proof. */
function toRefusal(error: unknown): AppError {
  if (error instanceof AppError) {
    return error;
  }
  if (error instanceof SignInFailure && error.word !== "provider") {
    return new AppError("forbidden", error.message, { reason: error.word, cause: error });
  }
  return new AppError("unauthenticated", toFailure(error).message, { cause: error });
}
