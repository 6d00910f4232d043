import { findCookie } from "#kernel/http/credential.ts";
import type { AccountsDeps } from "../deps.ts";
import { challengeCookie } from "../second-factor.ts";
import type { SessionStarts } from "../service.ts";
import { answerSignIn } from "../sign-in/session-routes.ts";
import { findPrimaryAdmin, findSignIn } from "../users/users-store.ts";
import { findAccountFacts } from "./principals.ts";
import { startSession, toFactorAccount } from "./sessions.ts";
import { findProofs, noteProof } from "./sessions-store.ts";

/** Creates the service with which a second factor ends a sign-in, and asks people anew who they are. */
export function createSessionStarts(deps: AccountsDeps): SessionStarts {
  const { db, config, changes, passwords, throttle, emit } = deps;
  return {
    async start(account, { method, request }) {
      const session = await startSession(deps, account, { method, isVerified: true });
      emit("auth.login", { user_id: account.id });
      return answerSignIn(session, { config, request });
    },
    async find(id) {
      const facts = await findAccountFacts(db, id);
      return facts?.active === true
        ? { ...toFactorAccount(facts), name: facts.name, email: facts.email }
        : undefined;
    },
    async isPassword(userId, password) {
      const subjects = [`user:${userId}`] as const;
      await throttle.enter(subjects);
      const account = await findSignIn(db, { id: userId });
      const isRight = await passwords.verify(password, account?.passwordHash);
      if (isRight) {
        await throttle.giveBack(subjects);
      }
      return isRight;
    },
    proofs: (caller) => findProofs(db, caller),
    noteProof: (caller, withFactor) =>
      caller.session === null ? Promise.resolve() : noteProof(db, caller.session.id, withFactor),
    changed: (change) => changes.announce(change),
    waiting: ({ headers }) => {
      const value = findCookie(headers.cookie, challengeCookie);
      return value === "" ? undefined : value;
    },
    primaryAdmin: async () => (await findPrimaryAdmin(db))?.id,
    answer: (step, request) => answerSignIn({ step }, { config, request }),
  };
}
