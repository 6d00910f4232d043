import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { SocketSession } from "#kernel/sockets/handler.ts";
import type { Channel, Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { RateLimit } from "./awareness.ts";

/** Messages of one session within a second: typing makes no more, and a flood harms nobody else. */
const mostUpdates = 200;
const mostAwareness = 60;

interface Reader {
  readonly userId: string;
  readonly session: SocketSession;
  /** Tells when the session has ended. */
  readonly channel: Channel;
  readonly limits: { readonly updates: RateLimit; readonly awareness: RateLimit };
  /** The Yjs client that the session speaks as. */
  clientId: number | undefined;
}

/** The sessions of this process that have notes open. */
export interface Readers {
  /** Enters the note's room. Throws `rate_limited` when the session has too many notes open. */
  add(caller: Principal, session: SocketSession, noteId: string): void;
  /** Leaves the room and tells the others; nothing for a session that is not in it. */
  remove(sessionId: string, noteId: string): void;
  /** The same for a session that was put out of the room, which is told. */
  expel(sessionId: string, noteId: string): void;
  /** Ids of the sessions that have the note open on this process. */
  sessions(noteId: string): string[];
  /** Throws `rate_limited` beyond what a session may send, `not_found` when it does not have the note open. */
  limit(sessionId: string, noteId: string, kind: keyof Reader["limits"]): void;
  /** Binds a session to its Yjs client. Throws `forbidden` when it speaks as another one. */
  claim(sessionId: string, noteId: string, clientIds: readonly number[]): void;
}

export function createReaders(hub: Hub): Readers {
  const notes = new Map<string, Map<string, Reader>>();
  const find = (sessionId: string, noteId: string) => notes.get(noteId)?.get(sessionId);

  function drop(sessionId: string, noteId: string): Reader | undefined {
    const reader = find(sessionId, noteId);
    const all = notes.get(noteId);
    all?.delete(sessionId);
    if (all?.size === 0) {
      notes.delete(noteId);
    }
    if (reader !== undefined) {
      reader.channel.close();
      hub.emit(toRoom("note", noteId), "ydoc:user:left", {
        document_id: `note:${noteId}`,
        user_id: reader.userId,
        session_id: sessionId,
        client_id: reader.clientId ?? null,
      });
    }
    return reader;
  }

  return {
    add(caller, session, noteId) {
      session.join(toRoom("note", noteId));
      if (find(session.id, noteId) !== undefined) {
        return;
      }
      const place = { userId: caller.userId, sessionId: session.id };
      const channel = hub.channel(place, { onData: () => {}, onGone: () => void drop(session.id, noteId) });
      const limits = { updates: new RateLimit(mostUpdates), awareness: new RateLimit(mostAwareness) };
      const reader = { userId: caller.userId, session, channel, limits, clientId: undefined };
      notes.set(noteId, (notes.get(noteId) ?? new Map<string, Reader>()).set(session.id, reader));
    },
    remove(sessionId, noteId) {
      drop(sessionId, noteId)?.session.leave(toRoom("note", noteId));
    },
    expel(sessionId, noteId) {
      drop(sessionId, noteId)?.session.emit("ydoc:document:closed", { document_id: `note:${noteId}` });
    },
    sessions: (noteId) => [...(notes.get(noteId)?.keys() ?? [])],
    limit(sessionId, noteId, kind) {
      requireReader(find(sessionId, noteId)).limits[kind].require();
    },
    claim(sessionId, noteId, clientIds) {
      const reader = requireReader(find(sessionId, noteId));
      reader.clientId ??= clientIds[0];
      const others = [...(notes.get(noteId)?.values() ?? [])].filter((one) => one !== reader);
      const isForeign = (id: number) => id !== reader.clientId || others.some((one) => one.clientId === id);
      if (clientIds.some(isForeign)) {
        throw new AppError("forbidden", "update: it speaks for another client.");
      }
    },
  };
}

function requireReader(reader: Reader | undefined): Reader {
  if (reader === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return reader;
}
