import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { RetrievalDatabase } from "../tables.ts";

/** A source whose passages wait for vectors. */
export interface ClaimedSource {
  readonly id: number;
  readonly attempts: number;
  /** null for texts that are no files. */
  readonly fileId: string | null;
  readonly userId: string;
}

export interface WaitingPassage {
  readonly id: number;
  readonly source_id: number;
  readonly content: string;
  readonly headings: readonly string[];
}

/** Tries before a source is left without vectors until somebody orders it anew. */
export const maxAttempts = 5;

/** The sources that wait for vectors are their own queue: a killed worker loses nothing but its last batch. */
export function createQueueStore(db: RetrievalDatabase) {
  const waiting = (indexId: number) =>
    db
      .selectFrom("retrieval_source")
      .where("status", "=", "live")
      .where("gave_up", "=", false)
      .where((eb) => eb.or([eb("embedded_in", "is", null), eb("embedded_in", "<>", indexId)]));

  return {
    /** People with sources that wait and are free. */
    async people(indexId: number): Promise<string[]> {
      const rows = await waiting(indexId)
        .select("user_id")
        .distinct()
        .where("free_at", "<=", seconds())
        .execute();
      return rows.map((row) => row.user_id);
    },

    /** Takes the oldest waiting source of a person for `leaseSeconds`. */
    async claim(
      indexId: number,
      { userId, leaseSeconds }: { userId: string; leaseSeconds: number },
    ): Promise<ClaimedSource | undefined> {
      const next = waiting(indexId)
        .select("id")
        .where("user_id", "=", userId)
        .where("free_at", "<=", seconds())
        .orderBy("id")
        .limit(1)
        .forUpdate()
        .skipLocked();
      return await db
        .updateTable("retrieval_source")
        .set({ free_at: seconds() + leaseSeconds })
        .where("id", "in", next)
        .returning(["id", "attempts", "file_id as fileId", "user_id as userId"])
        .executeTakeFirst();
    },

    async renew(id: number, leaseSeconds: number): Promise<void> {
      await db
        .updateTable("retrieval_source")
        .set({ free_at: seconds() + leaseSeconds })
        .where("id", "=", id)
        .execute();
    },

    /** Gives back what a killed process held; for a start that no other process can be beside. */
    async releaseAll(): Promise<void> {
      await db.updateTable("retrieval_source").set({ free_at: 0 }).where("free_at", ">", 0).execute();
    },

    passages: (sourceId: number, indexId: number, limit: number) =>
      passagesOf(db, { sourceId, indexId, limit }),

    ...outcomes(db),

    /** Seconds until the next waiting source is free; undefined when none waits. */
    async nextIn(indexId: number): Promise<number | undefined> {
      const row = await waiting(indexId)
        .select((eb) => eb.fn.min("free_at").as("at"))
        .executeTakeFirst();
      return row?.at === null || row?.at === undefined ? undefined : Math.max(0, Number(row.at) - seconds());
    },

    /** Shares of live sources: all, and those whose vectors stand in the index. */
    async share(indexId: number): Promise<{ all: number; embedded: number }> {
      return await db
        .selectFrom("retrieval_source")
        .select([
          sql<number>`count(*)`.as("all"),
          sql<number>`count(*) filter (where embedded_in = ${indexId})`.as("embedded"),
        ])
        .where("status", "=", "live")
        .executeTakeFirstOrThrow();
    },
  };
}

export type QueueStore = ReturnType<typeof createQueueStore>;

/** Passages of a source without a vector in the index, in their order. */
async function passagesOf(
  db: RetrievalDatabase,
  { sourceId, indexId, limit }: { sourceId: number; indexId: number; limit: number },
): Promise<WaitingPassage[]> {
  return await db
    .selectFrom("retrieval_passage as p")
    .select(["p.id", "p.source_id", "p.content", "p.headings"])
    .where("p.source_id", "=", sourceId)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("passage_vector as v")
            .select("v.passage_id")
            .whereRef("v.passage_id", "=", "p.id")
            .where("v.index_id", "=", indexId),
        ),
      ),
    )
    .orderBy("p.position")
    .limit(limit)
    .execute();
}

/** How tries end. */
function outcomes(db: RetrievalDatabase) {
  return {
    async done(id: number, indexId: number): Promise<void> {
      await db
        .updateTable("retrieval_source")
        .set({ embedded_in: indexId, attempts: 0, error: null, free_at: 0 })
        .where("id", "=", id)
        .execute();
    },

    /** Notes a failed try; the next comes after a growing pause, or not at all. */
    async failed(source: ClaimedSource, reason: string): Promise<void> {
      const attempts = source.attempts + 1;
      await db
        .updateTable("retrieval_source")
        .set({
          attempts,
          error: reason.slice(0, 500),
          gave_up: attempts >= maxAttempts,
          free_at: seconds() + 2 ** attempts,
        })
        .where("id", "=", source.id)
        .execute();
    },

    /** Gives a source back without counting the try, as when the host stops. */
    async release(id: number): Promise<void> {
      await db.updateTable("retrieval_source").set({ free_at: 0 }).where("id", "=", id).execute();
    },

    /** Lets sources that were given up be tried again: all, or those of some items. */
    async retry(itemIds?: readonly string[]): Promise<void> {
      await db
        .updateTable("retrieval_source")
        .set({ gave_up: false, attempts: 0, error: null, free_at: 0 })
        .where("gave_up", "=", true)
        .$if(itemIds !== undefined, (query) => query.where("item_id", "in", [...(itemIds ?? []), ""]))
        .execute();
    },
  };
}
