import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineSocketHandler, type SocketHandler, type SocketSession } from "#kernel/sockets/handler.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { GuardedRooms } from "#plugins/realtime/service.ts";
import type { NoteParts } from "../parts.ts";
import { maxAwareness, signAwareness } from "./awareness.ts";
import { maxFrame, requireUpdate } from "./document.ts";
import type { Documents } from "./documents.ts";
import { createReaders, type Readers } from "./readers.ts";

const Byte = z.int().min(0).max(255);
/** Bytes as numbers, or as base64, which takes a third of the room. */
const toBytes = (most: number) =>
  z.union([z.array(Byte).max(most), z.base64().max(Math.ceil(most / 3) * 4)]).transform((given) => {
    const bytes =
      typeof given === "string" ? new Uint8Array(Buffer.from(given, "base64")) : new Uint8Array(given);
    if (bytes.length > most) {
      throw new AppError("too_large", `update: at most ${most} bytes at once.`);
    }
    return bytes;
  });

const Document = z.object({ document_id: z.string().max(300) });
const Join = Document.extend({ user_color: z.string().max(30).optional() });
const Update = Document.extend({ update: toBytes(maxFrame) });
const Awareness = Document.extend({ update: toBytes(maxAwareness) });
const NoteJoin = z.object({ note_id: z.string().max(300) });

/** The one spelling of a note's document. Throws `not_found` for every other (promise S41). */
export function toNoteId(documentId: string): string {
  const id = /^note:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(documentId)?.[1];
  if (id === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return id;
}

/** Decides who enters a note, and who writes into it. */
function createGate({ heads, isOpen }: NoteParts, readers: Readers) {
  const require = async (caller: Principal, noteId: string, action: "read" | "write") => {
    if (!isOpen(caller)) {
      throw new AppError("forbidden", "Notes need the permission features.notes.");
    }
    await heads.load(caller, noteId, action);
  };
  const mayWrite = async (caller: Principal, noteId: string) =>
    isOpen(caller) && (await heads.find(caller, noteId, "write")) !== undefined;

  /** Access is asked again once the session is in the room: it may have been taken away between the two. */
  async function enter(caller: Principal, session: SocketSession, noteId: string): Promise<void> {
    await require(caller, noteId, "read");
    readers.add(caller, session, noteId);
    try {
      await require(caller, noteId, "read");
    } catch (error) {
      readers.remove(session.id, noteId);
      throw error;
    }
  }
  const requireInside = (session: SocketSession, noteId: string) => {
    if (!session.rooms.has(toRoom("note", noteId))) {
      throw new AppError("not_found", "Not found");
    }
  };
  return { require, mayWrite, enter, requireInside };
}

/** Opens notes to clients that write together (contract §3.3). */
export function createNoteSockets(
  parts: NoteParts,
  documents: Documents,
): { sockets: Record<string, SocketHandler>; guard: GuardedRooms } {
  const { hub } = parts;
  const readers = createReaders(hub);

  const { require, mayWrite, enter, requireInside } = createGate(parts, readers);

  const sockets = {
    "join-note": defineSocketHandler({ data: NoteJoin }, async ({ caller, data, session }) => {
      await enter(caller, session, toNoteId(`note:${data.note_id}`));
      return true;
    }),
    "ydoc:document:join": defineSocketHandler({ data: Join }, async ({ caller, data, session }) => {
      const id = toNoteId(data.document_id);
      await enter(caller, session, id);
      const state = [...(await documents.state(id))];
      const answer = { document_id: data.document_id, state, sessions: readers.sessions(id) };
      session.emit("ydoc:document:state", answer);
      const joined = {
        document_id: data.document_id,
        user_id: caller.userId,
        user_name: caller.name,
        user_color: data.user_color ?? null,
        session_id: session.id,
      };
      hub.emit(toRoom("note", id), "ydoc:user:joined", joined, { except: session.id });
      return { document_id: data.document_id, write_access: await mayWrite(caller, id) };
    }),
    "ydoc:document:state": defineSocketHandler({ data: Document }, async ({ caller, data, session }) => {
      const id = toNoteId(data.document_id);
      await require(caller, id, "read");
      requireInside(session, id);
      const state = [...(await documents.state(id))];
      session.emit("ydoc:document:state", {
        document_id: data.document_id,
        state,
        sessions: readers.sessions(id),
      });
      return true;
    }),
    // The acknowledgement says that the update is stored: a client keeps what is not acknowledged, and sends it again.
    "ydoc:document:update": defineSocketHandler({ data: Update }, async ({ caller, data, session }) => {
      const id = toNoteId(data.document_id);
      await require(caller, id, "write");
      requireInside(session, id);
      readers.limit(session.id, id, "updates");
      await documents.append(id, { userId: caller.userId, bytes: requireUpdate(data.update) }, session.id);
      return true;
    }),
    "ydoc:document:leave": defineSocketHandler({ data: Document }, ({ data, session }) => {
      readers.remove(session.id, toNoteId(data.document_id));
      return true;
    }),
    "ydoc:awareness:update": defineSocketHandler({ data: Awareness }, async ({ caller, data, session }) => {
      const id = toNoteId(data.document_id);
      requireInside(session, id);
      readers.limit(session.id, id, "awareness");
      const { bytes, clientIds } = signAwareness(data.update, { id: caller.userId, name: caller.name });
      readers.claim(session.id, id, clientIds);
      const payload = { document_id: data.document_id, user_id: caller.userId, update: [...bytes] };
      hub.emit(toRoom("note", id), "ydoc:awareness:update", payload, { except: session.id });
      return true;
    }),
  };
  return { sockets, guard: toGuard(parts, readers) };
}

/** Takes sessions out of notes that their people may not read any more. */
function toGuard({ heads, isOpen }: NoteParts, readers: Readers): GuardedRooms {
  return {
    kind: "note",
    mayStay: async (principal, id) =>
      isOpen(principal) && (await heads.find(principal, id, "read")) !== undefined,
    expelled: (sessionId, id) => readers.expel(sessionId, id),
  };
}
