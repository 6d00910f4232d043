import type { Principal } from "#kernel/access/principal.ts";
import type { Access, Loader } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import type { Events } from "#kernel/events.ts";
import { applyOperation, type Cause, type Outcome } from "./apply.ts";
import type { FoundMemory, MemoryIndex } from "./memory-index.ts";
import type { Memory, MemoryChange, MemorySearch, Operation } from "./schema.ts";
import {
  addChange,
  countPaths,
  deleteMemories,
  findChange,
  findMemory,
  forgetChanges,
  listChanges,
  listMemories,
  lockMemories,
  markUndone,
  putMemory,
} from "./store.ts";
import type { MemoryDatabase } from "./tables.ts";

export interface MemoryParts {
  readonly db: MemoryDatabase;
  transaction<R>(run: (tx: MemoryDatabase) => Promise<R>): Promise<R>;
  readonly access: Access;
  readonly events: Events;
  readonly index: MemoryIndex;
}

export type Memories = ReturnType<typeof createMemories>;

/** The parts with what all of them need. */
interface Shared extends MemoryParts {
  readonly memories: Loader<Memory>;
  announce(event: "created" | "updated" | "deleted" | "reset", by: Principal, id?: string): void;
}

const byPerson: Cause = { source: { by: "person" } };

/** Actions of people and models on the memories of one person; nobody else reaches them, administrators included. */
export function createMemories(parts: MemoryParts) {
  const { db, access, events } = parts;
  const shared: Shared = {
    ...parts,
    memories: access.loader<Memory>({
      type: "memory",
      find: (id) => findMemory(db, id),
      ownerOf: (row) => row.user_id,
      adminPasses: false,
    }),
    announce: (event, by, id) =>
      void events.announce(`memory.${event}`, {
        actor: { id: by.userId, name: by.name, email: by.email, role: by.role },
        subject: id === undefined ? null : { type: "memory", id },
      }),
  };
  return { ...readingOf(shared), ...writingOf(shared), ...historyOf(shared) };
}

function readingOf({ db, memories, index }: Shared) {
  return {
    list: (caller: Principal) => listMemories(db, { userId: caller.userId }),
    paths: (caller: Principal) => countPaths(db, caller.userId),

    read: (caller: Principal, id: string) => memories.load(caller, id, "read"),

    at: (caller: Principal, place: { readonly path: string; readonly withChildren: boolean }) =>
      listMemories(db, { userId: caller.userId, ...place }),

    /** The best by meaning and words, or the newest without a query. Throws `not_found` for a foreign `memory_id`. */
    async search(caller: Principal, asked: MemorySearch, signal: AbortSignal): Promise<Memory[]> {
      const { query, type, path, memory_id: id, limit } = asked;
      if (id) {
        return [await memories.load(caller, id, "read")];
      }
      const userId = caller.userId;
      const chosen = {
        userId,
        ...(type !== "all" && { type }),
        ...(path && { path, withChildren: true }),
      };
      if (!query?.trim()) {
        return await listMemories(db, { ...chosen, limit });
      }
      const isNarrowed = type !== "all" || Boolean(path);
      const found = await index.search(userId, query, isNarrowed ? 200 : limit, signal);
      const kept = isNarrowed
        ? new Set(
            (await listMemories(db, { ...chosen, ids: found.map(({ memory }) => memory.id) })).map(
              (row) => row.id,
            ),
          )
        : undefined;
      return found.flatMap(({ memory }) => ((kept?.has(memory.id) ?? true) ? [memory] : [])).slice(0, limit);
    },

    near: (
      caller: Principal,
      query: string,
      limit: number,
      signal: AbortSignal,
    ): Promise<readonly FoundMemory[]> => index.search(caller.userId, query, limit, signal),
  };
}

function writingOf({ transaction, memories, index, announce }: Shared) {
  /** All of the operations or none. Throws `not_found` for unknown and foreign ids, `invalid` beyond the limits. */
  async function apply(
    caller: Principal,
    operations: readonly Operation[],
    cause: Cause = byPerson,
  ): Promise<Outcome[]> {
    for (const operation of operations) {
      if (operation.action !== "add") {
        await memories.load(caller, operation.id, "write");
      }
    }
    const outcomes = await transaction(async (tx) => {
      await lockMemories(tx, caller.userId);
      const done: Outcome[] = [];
      for (const operation of operations) {
        done.push(await applyOperation(tx, caller.userId, operation, cause));
      }
      return done;
    });
    const removed = outcomes.filter(({ action }) => action === "remove");
    const written = outcomes.filter(({ action }) => action === "add" || action === "replace");
    await index.remove(removed.map(({ memory }) => memory.id));
    await index.put(written.map(({ memory }) => memory));
    for (const { action, memory } of outcomes) {
      const event = action === "add" ? "created" : action === "remove" ? "deleted" : "updated";
      announce(event, caller, memory.id);
    }
    return outcomes;
  }

  return {
    apply,

    /** Lets a memory hold that was proposed. */
    async keep(caller: Principal, id: string): Promise<Memory> {
      const { type, path, content, meta } = await memories.load(caller, id, "write");
      const before = { type, path, content, meta };
      const after = { ...before, meta: { source: meta.source } };
      const kept = await transaction(async (tx) => {
        await addChange(tx, {
          userId: caller.userId,
          memoryId: id,
          action: "keep",
          before,
          after,
          source: byPerson.source,
        });
        return await putMemory(tx, caller.userId, { id, ...after });
      });
      announce("updated", caller, id);
      return kept;
    },
  };
}

function historyOf({ db, transaction, index, announce }: Shared) {
  return {
    changes: (caller: Principal): Promise<MemoryChange[]> => listChanges(db, caller.userId),

    /** Takes one change back. Throws `not_found` for foreign ones, `conflict` for one that was taken back already. */
    async undo(caller: Principal, changeId: string): Promise<MemoryChange> {
      const userId = caller.userId;
      const change = await transaction(async (tx) => {
        await lockMemories(tx, userId);
        const found = await findChange(tx, userId, changeId);
        if (found === undefined) {
          throw new AppError("not_found", "Not found");
        }
        if (found.undone_at !== null) {
          throw new AppError("conflict", "This change was taken back already.");
        }
        await (found.before === null
          ? deleteMemories(tx, userId, [found.memory_id])
          : putMemory(tx, userId, { id: found.memory_id, ...found.before }));
        await markUndone(tx, changeId);
        return (await findChange(tx, userId, changeId)) ?? found;
      });
      const [row] = await listMemories(db, { userId, ids: [change.memory_id] });
      await (row === undefined ? index.remove([change.memory_id]) : index.put([row]));
      announce(row === undefined ? "deleted" : "updated", caller, change.memory_id);
      return change;
    },

    /** Forgets everything, the record of changes with it. */
    async clear(caller: Principal): Promise<void> {
      const ids = await transaction(async (tx) => {
        await lockMemories(tx, caller.userId);
        await forgetChanges(tx, caller.userId);
        return await deleteMemories(tx, caller.userId);
      });
      await index.remove(ids);
      announce("deleted", caller);
    },

    /** Writes the search index anew. */
    async reindex(caller: Principal): Promise<void> {
      await index.put(await listMemories(db, { userId: caller.userId }));
      announce("reset", caller);
    },
  };
}
