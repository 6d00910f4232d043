import { refreshTokenGrant } from "openid-client";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Peers } from "../peer.ts";
import type { Provider } from "../providers.ts";
import type { ProviderTokens } from "../service.ts";
import { toFailure } from "../failure.ts";
import { requireSigned, toTokens } from "../sign-in/flow.ts";
import type { ProviderSession, SessionStore } from "./session-store.ts";

export interface TokensParts {
  readonly sessions: SessionStore;
  readonly peers: Peers;
  find(providerId: string): Provider | undefined;
}

/** Tokens are renewed so long before their end, so that none ends on its way. */
const marginMs = 30_000;
const waitMs = 45_000;
const pauseMs = 100;

/** Creates the tokens of people's sign-ins, for connections with `auth_type` system_oauth (contract §2.3, §5.1). */
export function createProviderTokens({ sessions, peers, find }: TokensParts): ProviderTokens {
  const renew = async (session: ProviderSession): Promise<void> => {
    const provider = find(session.provider);
    const { refreshToken, idToken } = session.tokens;
    if (refreshToken === undefined || provider === undefined) {
      throw signInAgain();
    }
    if (!(await sessions.beginRenewal(session))) {
      return await waitForRenewal(session, sessions);
    }
    try {
      const peer = await peers.open(provider);
      const answer = toTokens(await refreshTokenGrant(peer, refreshToken));
      if (answer.idToken !== undefined && provider.protocol === "oidc") {
        await requireSigned(answer.idToken, peer, peers);
      }
      await sessions.save(session, {
        ...answer,
        // Left out where the old ones go on.
        refreshToken: answer.refreshToken ?? refreshToken,
        idToken: answer.idToken ?? idToken,
      });
    } catch (error) {
      await sessions.endRenewal(session);
      if ((error as { error?: string }).error === "invalid_grant") {
        throw signInAgain();
      }
      throw new AppError("upstream", `The sign-in could not be renewed. ${toFailure(error).message}`, {
        cause: error,
      });
    }
  };
  return {
    async accessToken({ userId }: Principal) {
      const session = await sessions.newest(userId);
      if (session === undefined) {
        throw signInAgain();
      }
      if (!isEnding(session)) {
        return session.tokens.accessToken;
      }
      await renew(session);
      const renewed = await sessions.read(session.id);
      if (renewed === undefined || (renewed.tokens.expiresAt ?? Infinity) < Date.now()) {
        throw signInAgain();
      }
      return renewed.tokens.accessToken;
    },
  };
}

function signInAgain(): AppError {
  return new AppError(
    "unauthenticated",
    "This needs a sign-in through your organisation's provider, and yours has ended. Sign out, and sign in with the provider.",
  );
}

function isEnding({ tokens: { expiresAt, refreshToken } }: ProviderSession): boolean {
  return expiresAt !== undefined && expiresAt - (refreshToken === undefined ? 0 : marginMs) < Date.now();
}

/** Waits until the process that renews is done; when it failed, the next reader tries. */
async function waitForRenewal({ id, version }: ProviderSession, sessions: SessionStore): Promise<void> {
  const until = performance.now() + waitMs;
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if ((await sessions.read(id))?.version !== version) {
      return;
    }
  }
  throw new AppError("timeout", "The sign-in could not be renewed in time.");
}
