import { seconds } from "#storage/clock.ts";
import type { FileFacts } from "./record.ts";
import { toStorable, toStorableText } from "./record.ts";
import type { FilesDatabase } from "./tables.ts";

/** A file in the hands of a worker. */
export type ClaimedFile = FileFacts & {
  content: string | null;
  edited: boolean;
  attempts: number;
  started_at: number;
  path: string | null;
};

/** Names one order to process one file; an order that a newer one overtook has no effect any more. */
export interface Order {
  readonly id: string;
  readonly revision: number;
}

/** Tries before an order has failed. */
export const maxAttempts = 3;

/** An order nobody works on: its worker is gone, or it never reached one. */
export interface IdleOrder extends Order {
  readonly attempts: number;
}

/** What processing found: `content` and further keys of a file's `data`. */
export interface Processed {
  readonly data: Record<string, unknown>;
  /** Set where the same bytes give the same under the same fingerprint. */
  readonly fingerprint?: string;
}

const columns = [
  "id",
  "user_id",
  "hash",
  "filename",
  "status",
  "error",
  "content",
  "data",
  "meta",
  "created_at",
  "updated_at",
] as const;

/** The queries of the worker that processes files. */
export function createProcessStore(db: FilesDatabase) {
  const update = ({ id, revision }: Order) =>
    db
      .updateTable("file")
      .where("id", "=", id)
      .where("revision", "=", revision)
      .where("status", "=", "pending");
  const changed = async (query: { executeTakeFirst(): Promise<{ numUpdatedRows: bigint }> }) =>
    (await query.executeTakeFirst()).numUpdatedRows > 0n;

  return {
    ...waiting(db),

    /** Takes an order for `leaseSeconds` unless somebody alive has it; undefined when there is nothing to do. */
    claim(order: Order, leaseSeconds: number): Promise<ClaimedFile | undefined> {
      const now = seconds();
      return update(order)
        .where((eb) => eb.or([eb("lease_until", "is", null), eb("lease_until", "<", now)]))
        .set((eb) => ({
          attempts: eb("attempts", "+", 1),
          started_at: eb.fn.coalesce("started_at", eb.val(now)),
          lease_until: now + leaseSeconds,
        }))
        .returning([...columns, "path", "edited", "attempts", "started_at"])
        .executeTakeFirst() as Promise<ClaimedFile | undefined>;
    },

    /** Says that the worker still lives; false when the order is no longer its own. */
    renew(order: Order, leaseSeconds: number): Promise<boolean> {
      return changed(update(order).set({ lease_until: seconds() + leaseSeconds }));
    },

    /** Gives an order back without counting the try, as when the host stops. */
    async release(order: Order): Promise<void> {
      await update(order)
        .set((eb) => ({
          lease_until: null,
          queued_at: seconds(),
          attempts: eb.fn<number>("greatest", [eb("attempts", "-", 1), eb.lit(0)]),
        }))
        .execute();
    },

    /** Gives an order back for another try, which no worker takes before `pause` seconds are over. */
    async postpone(order: Order, pause: number): Promise<void> {
      const now = seconds();
      await update(order)
        .set({ lease_until: now + pause - 1, queued_at: now })
        .execute();
    },

    /** Ends an order with what was found; false when a newer order overtook it. */
    complete(order: Order, { data: found, fingerprint }: Processed): Promise<boolean> {
      const { content, ...data } = found;
      return changed(
        update(order).set({
          ...(typeof content === "string" ? { content: toStorableText(content) } : {}),
          data: toStorable(data),
          fingerprint: fingerprint ?? null,
          status: "completed",
          error: null,
          lease_until: null,
          updated_at: seconds(),
        }),
      );
    },

    findProcessed: (hash: string, fingerprint: string) => findProcessed(db, hash, fingerprint),

    fail(order: Order, error: string): Promise<boolean> {
      return changed(
        update(order).set({
          status: "failed",
          error: toStorableText(error),
          lease_until: null,
          updated_at: seconds(),
        }),
      );
    },

    /** Notes that an order was queued again, so that it is not queued at every look. */
    async touch(order: Order): Promise<void> {
      const now = seconds();
      await update(order)
        .where((eb) => eb.or([eb("lease_until", "is", null), eb("lease_until", "<", now)]))
        .set({ queued_at: now, lease_until: null })
        .execute();
    },
  };
}

export type ProcessStore = ReturnType<typeof createProcessStore>;

/** Orders that nobody works on. */
function waiting(db: FilesDatabase) {
  return {
    /** Lets workers take a new file, now that those who follow files know of it. */
    async offer(id: string): Promise<void> {
      await db
        .updateTable("file")
        .set({ lease_until: null })
        .where("id", "=", id)
        .where("status", "=", "pending")
        .where("attempts", "=", 0)
        .execute();
    },

    /** The oldest order of each person that waits for a worker, by the person. */
    firstOrders: () => firstOrders(db),

    /** Orders whose worker's lease ran out, and those that waited `patience` seconds without being taken. */
    idle: (patience: number, limit: number): Promise<IdleOrder[]> => idle(db, patience, limit),

    /** Gives back what a killed process held; for a start that no other process can be beside. */
    async releaseAll(): Promise<void> {
      await db
        .updateTable("file")
        .set({ lease_until: 0 })
        .where("status", "=", "pending")
        .where("lease_until", "is not", null)
        .execute();
    },
  };
}

async function firstOrders(db: FilesDatabase): Promise<Map<string, Order>> {
  const rows = await db
    .selectFrom("file")
    .distinctOn("user_id")
    .select(["user_id", "id", "revision"])
    .where("status", "=", "pending")
    .where("attempts", "<", maxAttempts)
    .where((eb) => eb.or([eb("lease_until", "is", null), eb("lease_until", "<", seconds())]))
    .orderBy("user_id")
    .orderBy("queued_at")
    .orderBy("id")
    .execute();
  return new Map(rows.map(({ user_id, ...order }) => [user_id, order]));
}

async function idle(db: FilesDatabase, patience: number, limit: number): Promise<IdleOrder[]> {
  const now = seconds();
  return await db
    .selectFrom("file")
    .select(["id", "revision", "attempts"])
    .where("status", "=", "pending")
    .where((eb) =>
      eb.or([
        eb("lease_until", "<", now),
        eb.and([eb("lease_until", "is", null), eb("queued_at", "<", now - patience)]),
      ]),
    )
    .orderBy("queued_at")
    .limit(limit)
    .execute();
}

/**
 * What was found in the same bytes under the same fingerprint, whoever owns that file. A text that somebody set by hand
 * is theirs and never taken over.
 */
async function findProcessed(
  db: FilesDatabase,
  hash: string,
  fingerprint: string,
): Promise<Record<string, unknown> | undefined> {
  const row = await db
    .selectFrom("file")
    .select(["content", "data"])
    .where("hash", "=", hash)
    .where("fingerprint", "=", fingerprint)
    .where("status", "=", "completed")
    .where("edited", "=", false)
    .limit(1)
    .executeTakeFirst();
  return row && { ...row.data, ...(row.content === null ? {} : { content: row.content }) };
}
