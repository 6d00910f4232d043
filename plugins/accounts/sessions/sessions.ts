import { AppError } from "#kernel/errors.ts";
import type { SessionObject } from "../sign-in/auth-schema.ts";
import type { AccountsDeps } from "../deps.ts";
import type { NextStep } from "../second-factor.ts";
import { type AccountFacts, findAccountFacts, toPrincipal } from "./principals.ts";
import type { AuthMethod, SignedSession } from "./session.ts";
import { insertSession } from "./sessions-store.ts";
import { profileImagePath } from "../users/user-records.ts";

export interface StartedSession {
  readonly signed: SignedSession;
  readonly answer: SessionObject;
}

/** A sign-in that starts no session yet. */
export interface AskedStep {
  readonly step: NextStep;
}

export type SignInResult = StartedSession | AskedStep;

/** An account that has proved its identity; `stamp` is the one the proof was checked with, if there was one. */
export interface ProvedAccount {
  readonly id: string;
  readonly stamp?: string | undefined;
}

/** How the account proved it; `isVerified` = with a second factor, too. */
export interface Proof {
  readonly method: AuthMethod;
  readonly isVerified: boolean;
}

type SessionDeps = Pick<AccountsDeps, "db" | "tokens" | "permissions">;

/**
 * Ends the first step of every sign-in: starts the session, or tells what is still asked for. Throws `invalid` when the
 * account was deleted meanwhile, or its sessions were ended: what was proved then counts no more.
 */
export async function concludeSignIn(
  deps: SessionDeps & Pick<AccountsDeps, "secondFactor" | "emit">,
  account: ProvedAccount,
  method: AuthMethod,
): Promise<SignInResult> {
  const facts = await requireFacts(deps, account);
  const step = await deps.secondFactor.nextStep(toFactorAccount(facts), method);
  if (step !== undefined) {
    return { step };
  }
  const session = await start(deps, facts, { method, isVerified: false });
  deps.emit("auth.login", { user_id: account.id });
  return session;
}

/** Starts a session of an account of which nothing is left to prove. Throws as `concludeSignIn` does. */
export async function startSession(
  deps: SessionDeps,
  account: ProvedAccount,
  proof: Proof,
): Promise<StartedSession> {
  return await start(deps, await requireFacts(deps, account), proof);
}

/** What the second factor is asked with. */
export function toFactorAccount({ id, role, groups, stamp }: AccountFacts) {
  return { id, role, stamp, groupIds: groups.map((group) => group.id) };
}

async function requireFacts(
  { db }: Pick<SessionDeps, "db">,
  { id, stamp }: ProvedAccount,
): Promise<AccountFacts> {
  const facts = await findAccountFacts(db, id);
  if (facts === undefined || !facts.active || (stamp !== undefined && stamp !== facts.stamp)) {
    throw new AppError("invalid", "The account was changed or deleted meanwhile. Sign in again.");
  }
  return facts;
}

async function start(
  { db, tokens, permissions }: SessionDeps,
  facts: AccountFacts,
  { method, isVerified }: Proof,
): Promise<StartedSession> {
  const { id, stamp } = facts;
  const signed = await tokens.sign({ userId: id, stamp, method, isVerified });
  await insertSession(db, signed, { userId: id, stamp, method, isVerified });
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
