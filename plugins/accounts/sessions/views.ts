import type { ConfigRegistry } from "#config/registry.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { AccountsDeps } from "../deps.ts";
import { requireRow } from "../require-row.ts";
import { findAccountFacts, toPrincipal } from "./principals.ts";
import { revokeSession } from "./revoked-sessions.ts";
import { type StartedSession, toSessionObject } from "./sessions.ts";

/** Administrators who look with the eyes of an account: what it sees and may, without changing anything. */
export interface Views {
  /** Throws `not_found`, and `forbidden` for administrators' accounts and where content of others is closed to them. */
  start(caller: Principal, userId: string): Promise<StartedSession>;
  /** Ends a view on every replica, which the audit log keeps as well; sessions of other kinds stay. */
  end(caller: Principal): Promise<void>;
}

/** Content of others is open to administrators unless ENABLE_ADMIN_CHAT_ACCESS closes it. */
export const toMayView = (configuration: Pick<ConfigRegistry, "valueOf">) => () =>
  configuration.valueOf("ENABLE_ADMIN_CHAT_ACCESS") !== false;

/** Creates the function behind "View as"; each view is kept in the audit log. */
export function createViews(
  { db, tokens, permissions, record, changes }: AccountsDeps,
  mayView: () => boolean,
): Views {
  return {
    async start(caller, userId) {
      if (caller.credential !== "session") {
        throw new AppError("forbidden", "A view begins in a session, not with a key.");
      }
      if (!mayView()) {
        throw new AppError(
          "forbidden",
          "ENABLE_ADMIN_CHAT_ACCESS keeps the content of others from administrators.",
        );
      }
      const viewed = requireRow(await findAccountFacts(db, userId));
      if (viewed.role === "admin" || !viewed.active) {
        throw new AppError("forbidden", "Only active accounts that are no administrators' can be viewed.");
      }
      const { id, stamp } = requireRow(await findAccountFacts(db, caller.userId));
      const signed = await tokens.sign({
        userId,
        stamp: viewed.stamp,
        method: "system",
        viewer: { id, stamp },
      });
      await record({
        action: "user.viewed",
        object: { type: "user", id: userId, name: viewed.name },
        by: caller.userId,
      });
      const shown = toPrincipal(viewed, permissions, { credential: "session", session: null });
      return { signed, answer: toSessionObject(viewed, signed, shown.permissions) };
    },
    async end({ viewer, session, userId, name }) {
      if (viewer !== undefined && session !== null) {
        await revokeSession(db, session.id, session.expiresAt);
        await record({
          action: "user.view_ended",
          object: { type: "user", id: userId, name },
          by: viewer.id,
        });
        await changes.announce({ jti: session.id });
      }
    },
  };
}
