import { sql } from "kysely";
import { nanoseconds, seconds } from "#storage/clock.ts";
import type { MessageRow } from "../rows/messages.ts";
import type { Bag, ChannelDatabase } from "../tables.ts";

/** A reply whose process is silent this long counts as interrupted. */
const leaseSeconds = 30;

export const leaseEnd = (): number => seconds() + leaseSeconds;

/** Stores what a model has written and renews its lease; undefined when the reply was stopped or deleted elsewhere. */
export async function writeReply(
  db: ChannelDatabase,
  id: string,
  change: { content: string; meta: Bag; data?: Bag | null; isDone: boolean },
): Promise<MessageRow | undefined> {
  return await db
    .updateTable("message")
    .set({
      content: change.content,
      meta: change.meta,
      ...(change.data !== undefined && { data: change.data }),
      writing_until: change.isDone ? null : leaseEnd(),
      updated_at: nanoseconds(),
    })
    .where("id", "=", id)
    .where("writing_until", "is not", null)
    .returningAll()
    .executeTakeFirst();
}

/** Ends replies that nobody writes any more: those of a process that died, or one that is stopped. */
export async function endReplies(
  db: ChannelDatabase,
  which: { id: string } | "expired",
  error: string | undefined,
): Promise<MessageRow[]> {
  const change: Bag = { done: true, ...(error !== undefined && { error: { content: error } }) };
  return await db
    .updateTable("message")
    .set({
      meta: sql`coalesce(meta, '{}') || cast(${JSON.stringify(change)} as jsonb)`,
      writing_until: null,
      updated_at: nanoseconds(),
    })
    .where("writing_until", "is not", null)
    .where((eb) => (which === "expired" ? eb("writing_until", "<", seconds()) : eb("id", "=", which.id)))
    .returningAll()
    .execute();
}
