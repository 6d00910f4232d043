import { type Authenticator, concerns } from "#kernel/access/authenticator.ts";
import { isMember } from "#kernel/access/principal.ts";
import { judgeAgain, judgeAll } from "#kernel/access/rejudge.ts";
import { AppError } from "#kernel/errors.ts";
import type { Credential } from "#kernel/http/credential.ts";
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
/** Who says nothing for so long is not there (contract 3.3), and unverified connections then of no use to anybody. */
const silentMs = 120_000;

export function createRenewal({ members, authenticator }: RenewalParts): Renewal {
  const state = { changes: 0, stopped: false };

  async function renew(session: Session): Promise<void> {
    const judged = await judgeAgain(
      () => session.isOpen && !state.stopped && session.credential !== undefined,
      () => {
        const isSilent = session.heardAt < Date.now() - silentMs;
        return authenticator.authenticate(session.credential as Credential, { ...session.facts, isSilent });
      },
    );
    if (judged instanceof AppError) {
      session.end(toClosing(judged));
    } else if (judged !== undefined) {
      session.verifiedAt = Date.now();
      if (isMember(judged)) {
        session.principal = judged;
      } else {
        session.end(closing.forbidden);
      }
    }
  }
  const look = () => {
    const now = Date.now();
    const sessions = [...members.all()];
    sessions
      .filter(({ principal, heardAt }) => principal === undefined && heardAt < now - silentMs)
      .forEach((session) => session.end(closing.silent));
    void judgeAll(
      sessions.filter(
        ({ principal, verifiedAt }) =>
          principal !== undefined &&
          (verifiedAt < now - verifyEveryMs || (principal.session?.expiresAt ?? Infinity) * 1000 <= now),
      ),
      renew,
    );
  };
  authenticator.onChange((change) => {
    state.changes += 1;
    void judgeAll(
      [...members.all()].filter(({ principal }) => principal !== undefined && concerns(change, principal)),
      renew,
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
