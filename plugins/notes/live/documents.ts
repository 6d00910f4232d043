import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "#kernel/errors.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { nanoseconds } from "#storage/clock.ts";
import { lockNote, updateNote } from "../library/note-store.ts";
import { keepVersion } from "../library/version-store.ts";
import { announce, emitNote, type NoteParts } from "../parts.ts";
import type { NoteDatabase, NoteRow } from "../tables.ts";
import {
  encodeState,
  maxSmall,
  maxState,
  mergeUpdates,
  openDocument,
  readMarkdown,
  toEdit,
} from "./document.ts";
import {
  hasUpdates,
  insertUpdates,
  type NewUpdate,
  readLog,
  sizeOf,
  staleNotes,
  storeState,
} from "./document-store.ts";

/** Milliseconds in which edits gather before the note's Markdown follows them (contract §3.3). */
const settleMs = 500;
/** A log that is older than this waits for a process that is gone. */
const staleNs = 15n * 1_000_000_000n;

interface Pending extends NewUpdate {
  readonly from: string | undefined;
  readonly done: PromiseWithResolvers<void>;
}

/** The documents of notes: an append log of Yjs updates, compacted into a state and the note's Markdown. */
export interface Documents {
  /** The state of a document as one update. */
  state(noteId: string): Promise<Uint8Array>;
  /** Stores an update, then sends it to everybody else who has the note open. The caller has been authorised. */
  append(noteId: string, update: NewUpdate, fromSession?: string): Promise<void>;
  /** Makes a note say `markdown`, as one edit among others; resolves to the row that says so. */
  write(noteId: string, markdown: string, userId: string): Promise<NoteRow>;
  /** Brings the Markdown up to what was written, where that is not done yet. */
  settle(noteId: string): Promise<void>;
  /** Settles what processes that are gone left. */
  settleStale(): Promise<void>;
  stop(): Promise<void>;
}

export function createDocuments(parts: NoteParts): Documents {
  const { db, log } = parts;
  const queues = new Map<string, Pending[]>();
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Set<Promise<unknown>>();

  const settle = async (noteId: string) => {
    if (await hasUpdates(db, noteId)) {
      await compact(parts, noteId, { isApart: false });
    }
  };
  const settleSoon = (noteId: string) => {
    if (!timers.has(noteId)) {
      const run = () => {
        timers.delete(noteId);
        const work = settle(noteId).catch((err: unknown) =>
          log.error({ err, noteId }, "a note's text could not be brought up to date"),
        );
        running.add(work);
        void work.finally(() => running.delete(work));
      };
      timers.set(noteId, setTimeout(run, settleMs).unref());
    }
  };

  async function drainQueue(noteId: string): Promise<void> {
    for (;;) {
      const batch = queues.get(noteId)?.splice(0) ?? [];
      if (batch.length === 0) {
        queues.delete(noteId);
        return;
      }
      await storeBatch(parts, noteId, batch);
      settleSoon(noteId);
    }
  }

  return {
    async state(noteId) {
      return mergeUpdates([encodeState(openDocument([])), ...(await readLog(db, noteId)).bytes]);
    },
    async append(noteId, update, fromSession) {
      const done = Promise.withResolvers<void>();
      const entry = { ...update, from: fromSession, done };
      const queue = queues.get(noteId);
      if (queue !== undefined) {
        // The write that runs takes along what came meanwhile.
        queue.push(entry);
      } else {
        queues.set(noteId, [entry]);
        void drainQueue(noteId);
      }
      await done.promise;
    },
    write: (noteId, markdown, userId) => compact(parts, noteId, { isApart: true, markdown, userId }),
    settle,
    async settleStale() {
      for (const id of await staleNotes(db, nanoseconds() - staleNs)) {
        await settle(id).catch((err: unknown) =>
          log.error({ err, noteId: id }, "a note could not be settled"),
        );
      }
    },
    async stop() {
      const waiting = [...timers.keys()];
      timers.forEach((timer) => clearTimeout(timer));
      timers.clear();
      await Promise.all(running);
      while (queues.size > 0) {
        await pause(5);
      }
      await Promise.allSettled(waiting.map(settle));
    },
  };
}

/** Gives a new note its document. */
export async function seedDocument(tx: NoteDatabase, noteId: string, markdown: string): Promise<void> {
  const document = openDocument([]);
  toEdit(document, markdown);
  await storeState(tx, noteId, { state: encodeState(document), ids: [] });
}

/** Writes a batch in one statement and sends it on; every entry learns what became of it. */
async function storeBatch({ db, hub }: NoteParts, noteId: string, batch: readonly Pending[]): Promise<void> {
  try {
    let size = await sizeOf(db, noteId);
    const fitting = batch.filter(({ bytes, done }) => {
      size += bytes.length;
      const fits = size <= maxState || (bytes.length <= maxSmall && size <= 2 * maxState);
      if (!fits) {
        size -= bytes.length;
        done.reject(new AppError("too_large", "This note is full. Continue in another one."));
      }
      return fits;
    });
    if (fitting.length === 0) {
      return;
    }
    const byAuthor = [...Map.groupBy(fitting, ({ userId }) => userId)];
    const rows = byAuthor.map(([userId, own]) => ({
      userId,
      bytes: mergeUpdates(own.map(({ bytes }) => bytes)),
    }));
    await insertUpdates(db, noteId, rows);
    for (const { bytes, from, userId, done } of fitting) {
      hub.emit(
        toRoom("note", noteId),
        "ydoc:document:update",
        { document_id: `note:${noteId}`, user_id: userId, update: [...bytes] },
        from === undefined ? {} : { except: from },
      );
      done.resolve();
    }
  } catch (error) {
    batch.forEach(({ done }) => done.reject(error));
  }
}

/** The members of a note that are written besides the log. */
interface Writing {
  /** Begins a new version of the history. */
  readonly isApart: boolean;
  readonly markdown?: string;
  readonly userId?: string;
}

/**
 * Joins the log into the document and the note's Markdown, in one transaction that keeps other compactions of the note
 * away. Updates that are stored meanwhile stay in the log.
 */
async function compact(parts: NoteParts, noteId: string, writing: Writing): Promise<NoteRow> {
  const { markdown, userId } = writing;
  const made = await parts.transaction(async (tx) => {
    const before = await lockNote(tx, noteId);
    const { bytes, ids, lastAuthor } = await readLog(tx, noteId);
    const document = openDocument(bytes);
    const edit = markdown === undefined ? undefined : toEdit(document, markdown);
    const content = readMarkdown(document);
    await storeState(tx, noteId, { state: encodeState(document), ids });
    if (content === before.content) {
      return { row: before, edit, isChanged: false };
    }
    const row = await updateNote(tx, noteId, { content });
    await keepVersion(tx, row, { userId: userId ?? lastAuthor, isApart: writing.isApart });
    return { row, edit, isChanged: true };
  });
  if (made.edit !== undefined) {
    parts.hub.emit(toRoom("note", noteId), "ydoc:document:update", {
      document_id: `note:${noteId}`,
      user_id: userId ?? null,
      update: [...made.edit],
    });
  }
  if (made.isChanged) {
    emitNote(parts, made.row, "content");
    announce(parts, "updated", { by: null, row: made.row });
  }
  return made.row;
}
