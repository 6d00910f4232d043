import type { Role } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { AccountsDeps } from "../deps.ts";
import { findKnownNames, listGroups } from "../groups/groups-store.ts";
import type { OutsideIdentity, OutsideSignIn } from "../service.ts";
import { concludeSignIn } from "../sessions/sessions.ts";
import type { ShareRule } from "../users/user-schema.ts";
import { bumpSessionStamp, findPrimaryAdmin, hasUsers, type UserRow } from "../users/users-store.ts";
import { Email } from "./auth-schema.ts";
import { findLinked, findOutsideAccount, resolveOutsideAccount } from "./outside-account.ts";
import { applyGroups, applyRole } from "./outside-identity.ts";
import { answerSignIn } from "./session-routes.ts";
import type { SignUp } from "./sign-up.ts";

/** Creates the service with which other plugins sign in people whose identity they have checked. */
export function createOutsideSignIn(
  deps: AccountsDeps,
  signUp: Pick<SignUp, "addTrusted">,
  share: () => ShareRule,
): OutsideSignIn {
  const { db, config, throttle, transaction, changes } = deps;
  const toRole = async (user: UserRow | undefined, said: Role | undefined): Promise<string> => {
    if (user === undefined) {
      return (await hasUsers(db)) ? (said ?? config.defaultRole) : "admin";
    }
    const isPrimary = said !== undefined && (await findPrimaryAdmin(db))?.id === user.id;
    return isPrimary ? user.role : (said ?? user.role);
  };
  return {
    isPasswordOn: () => config.auth && config.passwordAuth,
    tries: throttle,
    async signIn(given, { method, request, onAccount }) {
      const identity = { ...given, email: requireEmail(given.email) };
      const user = await resolveOutsideAccount(deps, signUp, identity);
      await applyRole(deps, user, identity.role);
      if (isSynced(user)) {
        await applyGroups(deps, user, toSaidGroups(identity, share));
      }
      await onAccount?.(user.id);
      return answerSignIn(await concludeSignIn(deps, { id: user.id }, method), { config, request });
    },
    async findLinked(link) {
      return (await findLinked(db, link))?.id;
    },
    async endSessions(userId) {
      await transaction((tx) => bumpSessionStamp(tx, userId));
      await changes.announce({ userId });
    },
    async preview(identity) {
      const email = requireEmail(identity.email);
      const { user, rule } = await findOutsideAccount(db, { ...identity, email });
      const isBlocked = identity.groups?.isBlocked ?? (() => false);
      const all = user === undefined ? [] : await listGroups(db, { memberId: user.id });
      const held = all.filter(({ name }) => !isBlocked(name));
      const names = identity.groups?.names.filter((name) => !isBlocked(name));
      const known = new Set(await findKnownNames(db, names ?? []));
      const heldNames = new Set(held.map(({ name }) => name));
      const isLeft = user !== undefined && !isSynced(user);
      const wanted = isLeft ? undefined : names;
      return {
        account:
          user === undefined ? null : { id: user.id, name: user.name, email: user.email, role: user.role },
        email,
        role: await toRole(user, identity.role),
        rule,
        groups: {
          joins: wanted?.filter((name) => known.has(name) && !heldNames.has(name)) ?? [],
          leaves: wanted === undefined ? [] : [...heldNames].filter((name) => !wanted.includes(name)),
          creates:
            identity.groups?.creates === true ? (wanted?.filter((name) => !known.has(name)) ?? []) : [],
          unknown:
            identity.groups?.creates === true ? [] : (wanted?.filter((name) => !known.has(name)) ?? []),
        },
      };
    },
  };
}

function toSaidGroups({ groups }: OutsideIdentity, share: () => ShareRule) {
  const { names, creates, isBlocked, share: rule = share() } = groups ?? {};
  return names && { names, isBlocked, create: creates === true ? { share: rule } : undefined };
}

/** Groups of administrators are left as they are: nobody outside takes their groups away. */
const isSynced = ({ role }: Pick<UserRow, "role">): boolean => role !== "admin";

function requireEmail(text: string): string {
  const email = Email.safeParse(text);
  if (!email.success) {
    throw new AppError("invalid", "What signs in names no e-mail address.");
  }
  return email.data;
}
