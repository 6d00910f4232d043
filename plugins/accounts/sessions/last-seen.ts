import type { Logger } from "#kernel/log.ts";
import type { AccountsDatabase } from "../tables.ts";
import { touchLastActive, touchSessions } from "./sessions-store.ts";

/** Notes that accounts and their sessions are in use, off the requests' path. */
export interface LastSeen {
  /** `sessionId` is null for keys. */
  note(userId: string, sessionId: string | null): void;
  /** Writes what was noted. */
  flush(): Promise<void>;
  /** Ends the timer and writes the rest. */
  stop(): Promise<void>;
}

const flushEveryMs = 2000;

/** Gathers notes for a moment and writes them in one statement. */
export function createLastSeen(db: AccountsDatabase, log: Logger): LastSeen {
  let noted = new Set<string>();
  let sessions = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    if (noted.size === 0) {
      return;
    }
    const ids = [...noted];
    const sessionIds = [...sessions];
    noted = new Set();
    sessions = new Set();
    try {
      await touchLastActive(db, ids);
      await touchSessions(db, sessionIds);
    } catch (error) {
      // Only a time stamp is lost; the next request of the account writes it.
      log.warn({ err: error }, "could not note which accounts are active");
    }
  };
  return {
    note(userId, sessionId) {
      noted.add(userId);
      if (sessionId !== null) {
        sessions.add(sessionId);
      }
      timer ??= setTimeout(() => void flush(), flushEveryMs).unref();
    },
    flush,
    stop: flush,
  };
}
