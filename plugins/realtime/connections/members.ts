import { AppError } from "#kernel/errors.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { Session } from "./session.ts";

const mostRooms = 1_000;

/** The sessions of this process and the rooms they are in. */
export interface Members {
  add(session: Session): void;
  remove(session: Session): void;
  /** Throws `rate_limited` when the session is in too many rooms. */
  enter(session: Session, room: string): void;
  leave(session: Session, room: string): void;
  find(sessionId: string): Session | undefined;
  inRoom(room: string): Iterable<Session>;
  isEmpty(room: string): boolean;
  ofUser(userId: string): readonly Session[];
  all(): Iterable<Session>;
  /** Runs when a session has ended. */
  onRemoved(handler: (session: Session) => void): void;
}

export function createMembers(): Members {
  const sessions = new Map<string, Session>();
  const rooms = new Map<string, Set<Session>>();
  const removedHandlers: ((session: Session) => void)[] = [];
  const leave = (session: Session, room: string) => {
    const inside = rooms.get(room);
    session.rooms.delete(room);
    inside?.delete(session);
    if (inside?.size === 0) {
      rooms.delete(room);
    }
  };
  return {
    add: (session) => void sessions.set(session.id, session),
    remove(session) {
      sessions.delete(session.id);
      [...session.rooms].forEach((room) => leave(session, room));
      removedHandlers.forEach((handler) => handler(session));
    },
    enter(session, room) {
      // A session that closed meanwhile would stay for ever.
      if (!sessions.has(session.id) || session.rooms.has(room)) {
        return;
      }
      if (session.rooms.size >= mostRooms) {
        throw new AppError("rate_limited", "This connection is in too many rooms.");
      }
      session.rooms.add(room);
      const inside = rooms.get(room);
      if (inside === undefined) {
        rooms.set(room, new Set([session]));
      } else {
        inside.add(session);
      }
    },
    leave,
    find: (sessionId) => sessions.get(sessionId),
    inRoom: (room) => rooms.get(room) ?? [],
    isEmpty: (room) => !rooms.has(room),
    ofUser: (userId) => [...(rooms.get(toRoom("user", userId)) ?? [])],
    all: () => sessions.values(),
    onRemoved: (handler) => void removedHandlers.push(handler),
  };
}
