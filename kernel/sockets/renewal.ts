import { setTimeout as pause } from "node:timers/promises";
import { type Authenticator, concerns } from "#kernel/access/authenticator.ts";
import { isMember } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { closing, toClosing } from "./closing.ts";
import type { Members } from "./members.ts";
import type { Session } from "./session.ts";

export interface RenewalParts {
  readonly members: Members;
  readonly authenticator: Authenticator;
}

/** Keeps open sessions as good as a request with their credential would be (security case S99). */
export interface Renewal {
  /** Counts the changes so far: taken before a credential is judged, it tells whether that is still true. */
  readonly changes: number;
  /** Judges one session's credential anew. */
  renew(session: Session): Promise<void>;
  stop(): void;
}

const lookEveryMs = 5_000;
/** Changes are announced; this bounds the harm of an announcement that was never made. */
const verifyEveryMs = 60_000;
/** Unverified connections that say nothing are of no use to anybody. */
const strangerMs = 120_000;
const atOnce = 16;
const retryMs = 1_000;

export function createRenewal({ members, authenticator }: RenewalParts): Renewal {
  const state = { changes: 0, stopped: false };

  async function renew(session: Session): Promise<void> {
    while (session.isOpen && !state.stopped && session.credential !== undefined) {
      try {
        const principal = await authenticator.authenticate(session.credential, session.facts);
        session.verifiedAt = Date.now();
        if (isMember(principal)) {
          session.principal = principal;
        } else {
          session.end(closing.forbidden);
        }
        return;
      } catch (error) {
        if (error instanceof AppError && /^(unauthenticated|forbidden)$/.test(error.code)) {
          session.end(toClosing(error));
          return;
        }
        // The database is away: nobody is thrown out for that, and nobody is forgotten either.
        await pause(retryMs, undefined, { ref: false });
      }
    }
  }
  async function renewAll(sessions: readonly Session[]): Promise<void> {
    const queue = sessions[Symbol.iterator]();
    const work = async () => {
      for (const session of queue) {
        await renew(session);
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, sessions.length) }, work));
  }
  const look = () => {
    const now = Date.now();
    const sessions = [...members.all()];
    sessions
      .filter(({ principal, heardAt }) => principal === undefined && heardAt < now - strangerMs)
      .forEach((session) => session.end(closing.silent));
    void renewAll(
      sessions.filter(
        ({ principal, verifiedAt }) =>
          principal !== undefined &&
          (verifiedAt < now - verifyEveryMs || (principal.session?.expiresAt ?? Infinity) * 1000 <= now),
      ),
    );
  };
  authenticator.onChange((change) => {
    state.changes += 1;
    void renewAll(
      [...members.all()].filter(({ principal }) => principal !== undefined && concerns(change, principal)),
    );
  });
  const timer = setInterval(look, lookEveryMs).unref();
  return {
    get changes() {
      return state.changes;
    },
    renew,
    stop() {
      state.stopped = true;
      clearInterval(timer);
    },
  };
}
