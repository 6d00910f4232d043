import { AppError } from "#kernel/errors.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { AccountsDeps } from "../deps.ts";
import { requireRow } from "../require-row.ts";
import { createSignOut } from "../sign-in/sign-out.ts";
import { bumpSessionStamp, findPrimaryAdmin, findUser, type UserRow } from "../users/users-store.ts";
import { findSession, listSessions, type SessionRow } from "./sessions-store.ts";

/** A session as its account and administrators see it. */
export type SessionView = Omit<SessionRow, "user_id" | "stamp" | "proved_at" | "factor_at"> & {
  readonly is_current: boolean;
};

/** The live sessions of accounts, and their ends: tokens and sockets on every replica end before the call returns. */
export interface LiveSessions {
  list(caller: Principal, userId: string): Promise<SessionView[]>;
  /** Throws `not_found`, and `forbidden` for sessions of the primary administrator that are not the caller's. */
  revoke(caller: Principal, userId: string, id: string): Promise<void>;
  /** Ends the caller's other sessions, or all of another account. */
  revokeAll(caller: Principal, userId: string): Promise<void>;
}

/** Creates the functions behind the routes of sessions. */
export function createLiveSessions(deps: AccountsDeps): LiveSessions {
  const { db, transaction, changes, record } = deps;
  const signOut = createSignOut(deps);
  const requireMine = async (caller: Principal, userId: string) => {
    const user = requireRow(await findUser(db, userId));
    if (userId !== caller.userId && (await findPrimaryAdmin(db))?.id === userId) {
      throw new AppError("forbidden", "Only the primary administrator may end these sessions.");
    }
    return user;
  };
  const end = async ({ id, expires_at: expiresAt }: SessionRow, userId: string) =>
    await signOut({ id, expiresAt }, userId);

  return {
    async list({ session }, userId) {
      requireRow(await findUser(db, userId));
      const rows = await listSessions(db, userId);
      return rows.map(
        ({ user_id: _user, stamp: _stamp, proved_at: _proved, factor_at: _factor, ...row }) => ({
          ...row,
          is_current: row.id === session?.id,
        }),
      );
    },
    async revoke(caller, userId, id) {
      const user = await requireMine(caller, userId);
      const session = requireRow(await findSession(db, userId, id));
      await end(session, userId);
      if (userId !== caller.userId) {
        const { address, client, created_at: createdAt } = session;
        await record({
          action: "user.session_revoked",
          object: toObject(user),
          before: { address, client, created_at: createdAt },
          by: caller.userId,
        });
      }
    },
    async revokeAll(caller, userId) {
      const user = await requireMine(caller, userId);
      if (userId === caller.userId) {
        const others = (await listSessions(db, userId)).filter(({ id }) => id !== caller.session?.id);
        await Promise.all(others.map((session) => end(session, userId)));
        return;
      }
      await transaction(async (tx) => {
        await bumpSessionStamp(tx, userId);
        await record({ action: "user.sessions_revoked", object: toObject(user), by: caller.userId }, tx);
      });
      await changes.announce({ userId });
    },
  };
}

function toObject({ id, name }: UserRow) {
  return { type: "user", id, name };
}
