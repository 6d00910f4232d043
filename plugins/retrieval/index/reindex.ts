import { sql } from "kysely";
import type { Job, Jobs } from "#kernel/jobs.ts";
import type { Logger } from "#kernel/log.ts";
import type { TextPlace } from "#plugins/files/service.ts";
import type { RetrievalDatabase } from "../tables.ts";
import type { QueueStore } from "./queue-store.ts";
import type { NewSource } from "./source-store.ts";

export interface ReindexParts {
  readonly db: RetrievalDatabase;
  readonly jobs: Jobs;
  readonly log: Logger;
  readonly queue: QueueStore;
  write(source: Omit<NewSource, "language">): Promise<boolean>;
}

const jobId = "retrieval.reindex";
/** Items of one queued order. */
const orderStep = 100;

/** Cuts and embeds texts anew that are in the index, from the text that was stored with them. */
export function createReindexing({ db, jobs, log, queue, write }: ReindexParts) {
  async function reindex(itemId: string): Promise<void> {
    const source = await db
      .selectFrom("retrieval_source")
      .select(["file_id", "user_id", "name", "url", "content", "places"])
      .where("item_id", "=", itemId)
      .where("status", "=", "live")
      .executeTakeFirst();
    if (source !== undefined) {
      await write({
        itemId,
        fileId: source.file_id,
        userId: source.user_id,
        name: source.name,
        url: source.url,
        content: source.content,
        places: source.places as readonly TextPlace[],
      });
    }
  }

  const job: Job<{ items?: unknown }> = {
    id: jobId,
    title: "Rebuilds the search index",
    retries: 2,
    expiresIn: 1_800,
    async run({ items }, { signal }) {
      for (const item of Array.isArray(items) ? items : []) {
        signal.throwIfAborted();
        await reindex(String(item)).catch((error: unknown) =>
          log.error({ err: error, item }, "a text could not be indexed anew"),
        );
      }
    },
  };

  async function order(itemIds: readonly string[]): Promise<void> {
    for (let at = 0; at < itemIds.length; at += orderStep) {
      await jobs.enqueue(jobId, { items: itemIds.slice(at, at + orderStep) });
    }
    await queue.retry(itemIds);
  }

  return {
    job,
    order,
    /** Orders every text of the index. */
    async orderAll(): Promise<void> {
      const { rows } = await sql<{
        item_id: string;
      }>`select item_id from retrieval_source where status = 'live'`.execute(db);
      await order(rows.map((row) => row.item_id));
    },
  };
}
