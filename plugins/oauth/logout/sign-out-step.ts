import { buildEndSessionUrl } from "openid-client";
import { findCookie } from "#kernel/http/credential.ts";
import type { Logger } from "#kernel/log.ts";
import type { SignOutStep } from "#plugins/accounts/service.ts";
import type { OAuthConfig } from "../config.ts";
import type { Peers } from "../peer.ts";
import type { Provider } from "../providers.ts";
import type { SessionStore } from "../sessions/session-store.ts";

export interface SignOutStepParts {
  readonly config: OAuthConfig;
  readonly peers: Peers;
  readonly sessions: SessionStore;
  readonly log: Logger;
  find(providerId: string): Provider | undefined;
}

/** Forgets the tokens of a sign-in that ends, and leads the browser to the provider's own end of it (contract §1.2). */
export function createSignOutStep({ config, peers, sessions, log, find }: SignOutStepParts): SignOutStep {
  return async (request, userId) => {
    const id = findCookie(request.headers.cookie, "oauth_session_id");
    const session = id ? await sessions.read(id) : undefined;
    if (session === undefined || (userId !== undefined && session.userId !== userId)) {
      return undefined;
    }
    await sessions.remove({ id: session.id });
    const provider = find(session.provider);
    try {
      return provider && (await toAddress(provider, session.tokens.idToken));
    } catch (error) {
      // The platform's own session has ended: that the provider cannot be asked takes nothing of it back.
      log.warn({ provider: session.provider, err: error }, "a provider was not asked to end a session");
      return undefined;
    }
  };

  async function toAddress(provider: Provider, idToken: string | undefined): Promise<string | undefined> {
    if (provider.protocol !== "oidc") {
      return undefined;
    }
    const back = config.publicUrl === "" ? undefined : `${config.publicUrl.replace(/(?<!\/)\/+$/, "")}/auth`;
    const parameters: Record<string, string> = {
      ...(idToken !== undefined && { id_token_hint: idToken }),
      ...(back !== undefined && { post_logout_redirect_uri: back }),
    };
    const peer = await peers.open(provider);
    if (provider.endSessionUrl !== "") {
      const address = new URL(provider.endSessionUrl);
      Object.entries({ client_id: provider.clientId, ...parameters }).forEach(([name, value]) =>
        address.searchParams.set(name, value),
      );
      return address.href;
    }
    return peer.serverMetadata().end_session_endpoint === undefined
      ? undefined
      : buildEndSessionUrl(peer, parameters).href;
  }
}
