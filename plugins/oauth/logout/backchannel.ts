import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { OutsideSignIn } from "#plugins/accounts/service.ts";
import type { OAuthConfig } from "../config.ts";
import { peek, verifyProviderToken } from "../jwt.ts";
import type { Peers } from "../peer.ts";
import { listProviders, type Provider } from "../providers.ts";
import type { SessionStore } from "../sessions/session-store.ts";
import type { UsedStates } from "../sessions/used-states.ts";

export interface BackchannelParts {
  readonly config: OAuthConfig;
  readonly peers: Peers;
  readonly sessions: SessionStore;
  readonly signIn: OutsideSignIn;
  readonly used: UsedStates;
  readonly log: Logger;
}

const event = "http://schemas.openid.net/event/backchannel-logout";
/** Seconds that a logout token counts for, whatever it says itself. */
const longest = 5 * 60;

/** Ends people's sessions when their provider says so (OpenID Connect Back-Channel Logout 1.0; contract §1.1). */
export function createBackchannel({ config, peers, sessions, signIn, used, log }: BackchannelParts) {
  /** Throws `invalid` for a token that does not count. */
  return async (token: string): Promise<void> => {
    const { provider, claims } = await verify(token);
    const jti = typeof claims["jti"] === "string" ? claims["jti"] : undefined;
    const { sub, sid } = claims as { sub?: unknown; sid?: unknown };
    const events = claims["events"];
    const isLogout = typeof events === "object" && events !== null && Object.hasOwn(events, event);
    const age = Math.abs(Math.floor(Date.now() / 1000) - Number(claims["iat"]));
    if (!isLogout || claims["nonce"] !== undefined || jti === undefined || !(age <= longest)) {
      throw refuse("It is no logout token, or an old one.");
    }
    if (typeof sub !== "string" && typeof sid !== "string") {
      throw refuse("It names neither a person nor a session.");
    }
    if (!(await used.use(`logout ${provider.id} ${jti}`, 2 * longest))) {
      throw refuse("It was used already.");
    }
    const ended = new Set<string>();
    if (typeof sid === "string") {
      (await sessions.remove({ provider: provider.id, sid })).forEach((id) => ended.add(id));
    }
    if (typeof sub === "string") {
      const userId = await signIn.findLinked({ provider: provider.id, subject: sub });
      if (userId !== undefined) {
        await sessions.remove({ provider: provider.id, userId });
        ended.add(userId);
      }
    }
    await Promise.all([...ended].map((userId) => signIn.endSessions(userId)));
    log.info({ provider: provider.id, accounts: ended.size }, "a provider ended sessions");
  };

  async function verify(token: string): Promise<{ provider: Provider; claims: Record<string, unknown> }> {
    const said = peek(token);
    const audience = [said?.aud ?? []].flat();
    // Chosen by the client, before anything is asked for: a stranger's token makes no request.
    const provider = listProviders(config).find(
      (each) => each.protocol === "oidc" && audience.includes(each.clientId),
    );
    if (said === undefined || provider === undefined) {
      throw refuse("It is for nobody here.");
    }
    try {
      const peer = await peers.open(provider);
      const claims = await verifyProviderToken(token, peer, { fetch: peers.fetch, typ: "logout+jwt" });
      return { provider, claims };
    } catch (error) {
      log.warn({ provider: provider.id, err: error }, "a logout token was refused");
      throw refuse("It is not signed by the provider, or has expired.");
    }
  }
}

function refuse(why: string): AppError {
  return new AppError("invalid", `The logout token does not count. ${why}`);
}
