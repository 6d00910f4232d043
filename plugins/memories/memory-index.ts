import type { Logger } from "#kernel/log.ts";
import type { Retrieval } from "#plugins/retrieval/service.ts";
import type { Memory } from "./schema.ts";
import { listMemories } from "./store.ts";
import type { MemoryDatabase } from "./tables.ts";

export interface IndexParts {
  readonly db: MemoryDatabase;
  readonly retrieval: Retrieval | undefined;
  readonly log: Logger;
}

export interface FoundMemory {
  readonly memory: Memory;
  /** From 0 to 1, which is best. */
  readonly score: number;
}

/** The search over memories: by words and vectors where retrieval is there, else by words alone. */
export interface MemoryIndex {
  put(memories: readonly Memory[]): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  /** The best `limit` memories of one person, best first. */
  search(userId: string, query: string, limit: number, signal: AbortSignal): Promise<readonly FoundMemory[]>;
}

const toCollection = (userId: string) => `memory:${userId}` as const;

export function createMemoryIndex({ db, retrieval, log }: IndexParts): MemoryIndex {
  if (retrieval === undefined) {
    return {
      put: async () => {},
      remove: async () => {},
      search: (userId, query, limit) => searchWords(db, userId, query, limit),
    };
  }
  return {
    async put(memories) {
      for (const { id, user_id: userId, content } of memories) {
        await retrieval.putText({ id, collection: toCollection(userId), userId, name: "Memory", content });
      }
    },
    remove: (ids) => retrieval.removeTexts(ids),

    async search(userId, query, limit, signal) {
      const scope = { files: [], collections: [toCollection(userId)] };
      const { passages } = await retrieval
        .search({ scope, queries: [query], settings: { topK: limit, threshold: 0 }, signal })
        .catch((error: unknown) => {
          signal.throwIfAborted();
          log.warn({ err: error }, "memories could not be searched by meaning; words decide");
          return { passages: [] };
        });
      const ids = [...new Set(passages.map(({ sourceId }) => sourceId))];
      if (ids.length === 0) {
        return await searchWords(db, userId, query, limit);
      }
      const rows = new Map((await listMemories(db, { userId, ids })).map((row) => [row.id, row]));
      return ids.flatMap((id) => {
        const memory = rows.get(id);
        const score = passages.find(({ sourceId }) => sourceId === id)?.score ?? 0;
        return memory === undefined ? [] : [{ memory, score }];
      });
    },
  };
}

/** Memories that hold any word of the query; those with more of them come first. */
async function searchWords(
  db: MemoryDatabase,
  userId: string,
  query: string,
  limit: number,
): Promise<readonly FoundMemory[]> {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  const rows = words.length === 0 ? [] : await listMemories(db, { userId });
  return rows
    .map((memory) => {
      const text = `${memory.path ?? ""} ${memory.content}`.toLowerCase();
      return { memory, score: words.filter((word) => text.includes(word)).length / words.length };
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit);
}
