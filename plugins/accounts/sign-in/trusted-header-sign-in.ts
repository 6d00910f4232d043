import type { AccountsDeps } from "../deps.ts";
import { concludeSignIn, type SignInResult } from "../sessions/sessions.ts";
import { findUserByEmail } from "../users/users-store.ts";
import { applyGroups, applyRole } from "./outside-identity.ts";
import type { SignUp } from "./sign-up.ts";
import type { TrustedIdentity } from "./trusted-header.ts";

/**
 * Creates the function that signs in the person that a trusted proxy names. An unknown address gets an account; the role
 * and the groups that the proxy names become the account's at each sign-in (appendix A6, trusted header).
 */
export function createTrustedHeaderSignIn(
  deps: AccountsDeps,
  signUp: Pick<SignUp, "addTrusted">,
): (identity: TrustedIdentity) => Promise<SignInResult> {
  const { db } = deps;
  return async (identity) => {
    const { email, role, groups: names } = identity;
    const user = (await findUserByEmail(db, email)) ?? (await signUp.addTrusted(identity));
    await applyRole(deps, user, role);
    await applyGroups(deps, user, names && { names });
    return await concludeSignIn(deps, { id: user.id }, "trusted_header");
  };
}
