import { seconds } from "#storage/clock.ts";
import type { TerminalDatabase } from "../tables.ts";

/** Whose a session is, and the chat it was made in. */
export interface SessionOwner {
  readonly userId: string;
  readonly chatId: string | undefined;
}

/** The owners of sessions on terminal servers, on all replicas. */
export interface Sessions {
  add(terminalId: string, sessionId: string, owner: SessionOwner): Promise<void>;
  /** The person's own session; undefined for one of somebody else and for one that was not made here. */
  find(terminalId: string, sessionId: string, userId: string): Promise<SessionOwner | undefined>;
  /** Ids of the person's sessions on a server. */
  list(terminalId: string, userId: string): Promise<ReadonlySet<string>>;
  remove(terminalId: string, sessionId: string): Promise<void>;
  /** Forgets sessions that no server can still have. */
  sweep(): Promise<void>;
}

/** Seconds after which a session is forgotten; servers end one with its connection. */
const oldest = 30 * 86_400;

/** Keeps them in the database. */
export function createSessions(db: TerminalDatabase): Sessions {
  return {
    async add(terminalId, sessionId, { userId, chatId }) {
      const owner = { user_id: userId, chat_id: chatId ?? "", created_at: seconds() };
      await db
        .insertInto("terminal_session")
        .values({ terminal_id: terminalId, session_id: sessionId, ...owner })
        // The server just made it for this person, so an older one of that name is gone.
        .onConflict((conflict) => conflict.columns(["terminal_id", "session_id"]).doUpdateSet(owner))
        .execute();
    },
    async find(terminalId, sessionId, userId) {
      const row = await db
        .selectFrom("terminal_session")
        .select(["user_id", "chat_id"])
        .where("terminal_id", "=", terminalId)
        .where("session_id", "=", sessionId)
        .where("user_id", "=", userId)
        .executeTakeFirst();
      return row && { userId: row.user_id, chatId: row.chat_id || undefined };
    },
    async list(terminalId, userId) {
      const rows = await db
        .selectFrom("terminal_session")
        .select("session_id")
        .where("terminal_id", "=", terminalId)
        .where("user_id", "=", userId)
        .execute();
      return new Set(rows.map((row) => row.session_id));
    },
    async remove(terminalId, sessionId) {
      await db
        .deleteFrom("terminal_session")
        .where("terminal_id", "=", terminalId)
        .where("session_id", "=", sessionId)
        .execute();
    },
    async sweep() {
      await db
        .deleteFrom("terminal_session")
        .where("created_at", "<", seconds() - oldest)
        .execute();
    },
  };
}
