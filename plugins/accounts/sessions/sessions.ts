import { AppError } from "#kernel/errors.ts";
import type { SessionObject } from "../sign-in/auth-schema.ts";
import type { AccountsDeps } from "../deps.ts";
import { type AccountFacts, findAccountFacts, toPrincipal } from "./principals.ts";
import type { AuthMethod, SignedSession } from "./session.ts";
import { insertSession } from "./sessions-store.ts";
import { profileImagePath } from "../users/user-records.ts";

export interface StartedSession {
  readonly signed: SignedSession;
  readonly answer: SessionObject;
}

/** An account that has proved its identity; `stamp` is the one the proof was checked with, if there was one. */
export interface ProvedAccount {
  readonly id: string;
  readonly stamp?: string;
}

/**
 * Starts a session of an account that has proved who it is. Throws `invalid` when it was deleted meanwhile, or its
 * sessions were ended: what was proved then counts no more.
 */
export async function startSession(
  { db, tokens, permissions }: Pick<AccountsDeps, "db" | "tokens" | "permissions">,
  { id, stamp }: ProvedAccount,
  method: AuthMethod,
): Promise<StartedSession> {
  const facts = await findAccountFacts(db, id);
  if (facts === undefined || !facts.active || (stamp !== undefined && stamp !== facts.stamp)) {
    throw new AppError("invalid", "The account was changed or deleted meanwhile. Sign in again.");
  }
  const signed = await tokens.sign({ userId: id, stamp: facts.stamp, method });
  await insertSession(db, signed, { userId: id, stamp: facts.stamp, method });
  const principal = toPrincipal(facts, permissions, { credential: "session", session: null });
  return { signed, answer: toSessionObject(facts, signed, principal.permissions) };
}

/** The session object of contract 1.2. */
export function toSessionObject(
  account: Pick<AccountFacts, "id" | "email" | "name" | "role">,
  { token, expiresAt }: Pick<SignedSession, "token" | "expiresAt">,
  permissions: SessionObject["permissions"],
): SessionObject {
  return {
    token,
    token_type: "Bearer",
    expires_at: expiresAt,
    id: account.id,
    email: account.email,
    name: account.name,
    role: account.role,
    profile_image_url: profileImagePath(account.id),
    permissions,
  };
}
