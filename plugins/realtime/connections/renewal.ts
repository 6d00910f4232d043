import { type Authenticator, concerns } from "#kernel/access/authenticator.ts";
import { isMember } from "#kernel/access/principal.ts";
import { reauthorize, reauthorizeAll } from "#kernel/access/reauthorize.ts";
import { AppError } from "#kernel/errors.ts";
import type { Credential } from "#kernel/http/credential.ts";
import { closing, toClosing } from "#kernel/sockets/closing.ts";
import type { Members } from "./members.ts";
import type { RoomRenewal } from "./room-renewal.ts";
import type { Session } from "./session.ts";

export interface RenewalParts {
  readonly members: Members;
  readonly authenticator: Authenticator;
  readonly rooms: Pick<RoomRenewal, "renew">;
}

/** Reauthorizes open sessions as if each were a request with its credential (security case S99). */
export interface Renewal {
  /** Count of credential changes; a count taken before authenticating tells whether the result still holds. */
  readonly changes: number;
  /** Reauthorizes one session. */
  renew(session: Session): Promise<void>;
  stop(): void;
}

const checkEveryMs = 5_000;
/** Changes are announced; this bounds the harm of an announcement that was never made. */
const verifyEveryMs = 60_000;
/** A client that is silent for so long counts as away (contract 3.3); unauthenticated connections are closed then. */
const silentMs = 120_000;

export function createRenewal({ members, authenticator, rooms }: RenewalParts): Renewal {
  const state = { changes: 0, stopped: false };

  async function renew(session: Session): Promise<void> {
    const judged = await reauthorize(
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
        await rooms.renew(session);
      } else {
        session.end(closing.forbidden);
      }
    }
  }
  const checkAll = () => {
    const now = Date.now();
    const sessions = [...members.all()];
    sessions
      .filter(({ principal, heardAt }) => principal === undefined && heardAt < now - silentMs)
      .forEach((session) => session.end(closing.silent));
    void reauthorizeAll(
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
    void reauthorizeAll(
      [...members.all()].filter(({ principal }) => principal !== undefined && concerns(change, principal)),
      renew,
    );
  });
  const timer = setInterval(checkAll, checkEveryMs).unref();
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
