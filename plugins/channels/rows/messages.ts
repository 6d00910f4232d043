import { randomUUID } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { nanoseconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import type { Bag, ChannelDatabase, MessageTable } from "../tables.ts";

export type MessageRow = Selectable<MessageTable>;

export async function findMessage(
  db: ChannelDatabase,
  channelId: string,
  id: string,
): Promise<MessageRow | undefined> {
  return await db
    .selectFrom("message")
    .selectAll()
    .where("id", "=", id)
    .where("channel_id", "=", channelId)
    .executeTakeFirst();
}

/** Rows of one channel by id. */
export async function findMessages(
  db: ChannelDatabase,
  channelId: string,
  ids: readonly string[],
): Promise<Map<string, MessageRow>> {
  const rows =
    ids.length === 0
      ? []
      : await db
          .selectFrom("message")
          .selectAll()
          .where("id", "=", anyOf([...new Set(ids)]))
          .where("channel_id", "=", channelId)
          .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export interface NewMessage {
  readonly id: string;
  readonly user_id: string | null;
  readonly channel_id: string;
  readonly parent_id: string | null;
  readonly reply_to_id: string | null;
  readonly content: string;
  readonly data: Bag | null;
  readonly meta: Bag | null;
  readonly writing_until?: number | null;
}

/** Stores a message and counts it with the message whose thread it belongs to. */
export async function insertMessage(tx: ChannelDatabase, message: NewMessage): Promise<MessageRow> {
  const now = nanoseconds();
  const row = await tx
    .insertInto("message")
    .values({
      writing_until: null,
      ...message,
      pinned_by: null,
      pinned_at: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  if (row.parent_id !== null) {
    await tx
      .updateTable("message")
      .set({ reply_count: sql`reply_count + 1`, latest_reply_at: now })
      .where("id", "=", row.parent_id)
      .execute();
  }
  return row;
}

export async function updateMessage(
  db: ChannelDatabase,
  id: string,
  change: Partial<
    Pick<MessageRow, "content" | "data" | "meta" | "is_pinned" | "pinned_by" | "pinned_at" | "writing_until">
  >,
): Promise<MessageRow | undefined> {
  return await db
    .updateTable("message")
    .set({ ...change, updated_at: nanoseconds() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes a message with its thread, and counts it out of the thread it belongs to. */
export async function deleteMessage(
  tx: ChannelDatabase,
  { id, parent_id: parentId }: Pick<MessageRow, "id" | "parent_id">,
): Promise<void> {
  const { numDeletedRows } = await tx.deleteFrom("message").where("id", "=", id).executeTakeFirst();
  if (parentId !== null && numDeletedRows > 0n) {
    await tx
      .updateTable("message")
      .set({
        reply_count: sql`greatest(reply_count - 1, 0)`,
        latest_reply_at: sql`(select max(reply.created_at) from message as reply where reply.parent_id = ${parentId})`,
      })
      .where("id", "=", parentId)
      .execute();
  }
}

/** A part of a list: the messages next to the place of `before` or `after`, without it. */
export interface PageQuery {
  readonly skip: number;
  readonly limit: number;
  readonly before?: Place | undefined;
  readonly after?: Place | undefined;
}

type Place = Pick<MessageRow, "id" | "created_at">;

/** Newest first: the top level of a channel, or the replies of a thread. */
export async function listMessages(
  db: ChannelDatabase,
  { channelId, parentId }: { channelId: string; parentId: string | null },
  { skip, limit, before, after }: PageQuery,
): Promise<MessageRow[]> {
  const direction = after === undefined ? "desc" : "asc";
  const rows = await db
    .selectFrom("message")
    .selectAll()
    .where("channel_id", "=", channelId)
    .where("parent_id", parentId === null ? "is" : "=", parentId)
    .$if(before !== undefined, (query) =>
      query.where(sql<boolean>`(created_at, id) < (${before?.created_at}, ${before?.id})`),
    )
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(created_at, id) > (${after?.created_at}, ${after?.id})`),
    )
    .orderBy("created_at", direction)
    .orderBy("id", direction)
    .limit(limit)
    .offset(skip)
    .execute();
  return after === undefined ? rows : rows.toReversed();
}

export const pinnedPage = 20;

export async function listPinned(
  db: ChannelDatabase,
  channelId: string,
  page: number,
): Promise<MessageRow[]> {
  return await db
    .selectFrom("message")
    .selectAll()
    .where("channel_id", "=", channelId)
    .where("is_pinned", "=", true)
    .orderBy("pinned_at", "desc")
    .orderBy("id")
    .limit(pinnedPage)
    .offset((page - 1) * pinnedPage)
    .execute();
}

export const foundPage = 20;

/** Messages that hold words which begin with each of the query's, newest first. */
export async function searchMessages(
  db: ChannelDatabase,
  channelIds: readonly string[],
  { query, limit, before }: { query: string; limit: number; before?: bigint | undefined },
): Promise<MessageRow[]> {
  const words = (query.normalize("NFKC").match(/[\p{L}\p{N}_]+/gu) ?? []).slice(0, 16);
  if (words.length === 0 || channelIds.length === 0) {
    return [];
  }
  const wanted = words.map((word) => `${word}:*`).join(" & ");
  return await db
    .selectFrom("message")
    .selectAll()
    .where("channel_id", "=", anyOf(channelIds))
    .where(sql<boolean>`to_tsvector('simple', left(content, 100000)) @@ to_tsquery('simple', ${wanted})`)
    .$if(before !== undefined, (rows) => rows.where("created_at", "<", before as bigint))
    .orderBy("created_at", "desc")
    .limit(limit)
    .execute();
}

/** Notes files of a message with its channel; a file that the channel has already stays as it is. */
export async function linkFiles(
  tx: ChannelDatabase,
  place: { userId: string; channelId: string; messageId: string },
  fileIds: readonly string[],
): Promise<void> {
  if (fileIds.length > 0) {
    const now = Math.floor(Date.now() / 1000);
    await tx
      .insertInto("channel_file")
      .values(
        [...new Set(fileIds)].map((fileId) => ({
          id: randomUUID(),
          user_id: place.userId,
          channel_id: place.channelId,
          file_id: fileId,
          message_id: place.messageId,
          created_at: now,
          updated_at: now,
        })),
      )
      .onConflict((conflict) => conflict.columns(["channel_id", "file_id"]).doNothing())
      .execute();
  }
}
