import { AppError } from "#kernel/errors.ts";
import type { Challenge, Credential, FetchLike } from "../client/server-fetch.ts";
import { refresh } from "./sign-in.ts";
import type { SessionPlace, SessionStore, StoredSession } from "./stores.ts";

export interface TokensParts {
  readonly sessions: SessionStore;
  /** What a person reads who has to sign in. */
  toSignInText(reason: "missing" | "scope"): string;
}

export interface TokenTarget extends SessionPlace {
  /** The server's address; tokens for another one are as good as none. */
  readonly url: string;
  readonly fetchServer: FetchLike;
}

/** Tokens are renewed so long before their end, so that none ends on its way. */
const marginMs = 30_000;
const waitMs = 60_000;
const pauseMs = 100;

/** The credential of a person at a server with OAuth: renewed when it ends, once for all who need it (contract §5.1). */
export function createOAuthCredential(target: TokenTarget, parts: TokensParts): Credential {
  const { sessions } = parts;
  const missing = () => new AppError("unauthenticated", parts.toSignInText("missing"));
  const read = async (): Promise<StoredSession> => {
    const stored = await sessions.read(target);
    if (stored === undefined || stored.tokens.url !== target.url) {
      throw missing();
    }
    return stored;
  };
  const renew = async (stored: StoredSession): Promise<void> => {
    if (stored.tokens.refreshToken === undefined) {
      await sessions.remove(target, stored.version);
      throw missing();
    }
    if (!(await sessions.beginRenewal(target, stored.version))) {
      await waitForRenewal(target, stored.version, sessions);
      return;
    }
    try {
      await sessions.save(target, await refresh(stored.tokens, target.fetchServer));
    } catch (error) {
      if (error instanceof AppError && error.code === "unauthenticated") {
        await sessions.remove(target, stored.version);
        throw missing();
      }
      await sessions.endRenewal(target);
      throw error;
    }
  };
  return {
    async authorization() {
      let stored = await read();
      if (isEnding(stored)) {
        await renew(stored);
        stored = await read();
      }
      return `Bearer ${stored.tokens.accessToken}`;
    },
    async refused(challenge: Challenge, used) {
      const stored = await read();
      if (challenge.status === 403) {
        await sessions.wantScope(target, challenge.scope ?? "");
        throw new AppError("unauthenticated", parts.toSignInText("scope"));
      }
      // Another call may have renewed the tokens while this one was on its way.
      if (used === `Bearer ${stored.tokens.accessToken}`) {
        await renew(stored);
      }
      return true;
    },
  };
}

function isEnding({ tokens: { expiresAt, refreshToken } }: StoredSession): boolean {
  return expiresAt !== undefined && expiresAt - (refreshToken === undefined ? 0 : marginMs) < Date.now();
}

/** Waits until the process that renews is done; when it failed, the next reader tries. */
async function waitForRenewal(place: SessionPlace, version: string, sessions: SessionStore): Promise<void> {
  const until = performance.now() + waitMs;
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const stored = await sessions.read(place);
    if (stored === undefined || stored.version !== version) {
      return;
    }
  }
  throw new AppError("timeout", "The sign-in could not be renewed in time.");
}
