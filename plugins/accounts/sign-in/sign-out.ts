import type { AccountsDeps } from "../deps.ts";
import { revokeSession } from "../sessions/revoked-sessions.ts";

/** Creates the function that ends one session on every replica (contract D.9). */
export function createSignOut({ db, changes, emit }: Pick<AccountsDeps, "db" | "changes" | "emit">) {
  return async (
    session: { readonly id: string; readonly expiresAt: number | null },
    userId: string,
  ): Promise<void> => {
    await revokeSession(db, session.id, session.expiresAt);
    await changes.announce({ jti: session.id });
    emit("auth.logout", { user_id: userId });
  };
}
