import type { Principal } from "#kernel/access/principal.ts";
import type { TestAccounts } from "../accounts.fixture.ts";
import type { SignInResult, StartedSession } from "../sessions/sessions.ts";
import { createUser, type UserRow } from "../users/users-store.ts";

let count = 0;

/** Stores an account that signs in with `password`. */
export async function storePerson({ db, deps }: TestAccounts, password: string): Promise<UserRow> {
  const passwordHash = await deps.passwords.hash(password);
  const email = `in${++count}@example.org`;
  const user = await createUser(db, { email, name: "In", role: "user", passwordHash });
  if (user === undefined) {
    throw new Error(`${email} is taken`);
  }
  return user;
}

/** An address from which nobody came before. */
export const from = (): string => `10.0.${(++count >> 8) & 255}.${count & 255}`;

/** The principal of a session; throws `unauthenticated` when it has ended. */
export async function authenticate({ authenticator }: TestAccounts, token: string): Promise<Principal> {
  const request = { method: "GET", path: "/", address: "" };
  return await authenticator.authenticate({ value: token, source: "bearer" }, request);
}

/** The session of a sign-in that asks for nothing more. */
export function toSession(result: SignInResult): StartedSession {
  if ("step" in result) {
    throw new Error(`the sign-in goes on with ${result.step.next_step}`);
  }
  return result;
}
