import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { Feedback, FeedbackChange, FeedbackFacts, ListQuery, NewFeedback } from "./schema.ts";
import type { FeedbackDatabase } from "./tables.ts";

const factColumns = ["id", "user_id", "version", "type", "data", "meta", "created_at", "updated_at"] as const;
const allColumns = [...factColumns, "snapshot"] as const;
const idColumns = ["id", "user_id", "created_at", "updated_at"] as const;
const pageSize = 30;

export async function findFeedback(db: FeedbackDatabase, id: string): Promise<Feedback | undefined> {
  return await db.selectFrom("feedback").select(allColumns).where("id", "=", id).executeTakeFirst();
}

/** Stores what an account thinks of a reply; what it thought before goes. */
export async function saveFeedback(
  db: FeedbackDatabase,
  userId: string,
  { type, data, meta, snapshot = null }: NewFeedback,
): Promise<{ feedback: Feedback; isNew: boolean }> {
  const now = seconds();
  const row = {
    id: randomUUID(),
    user_id: userId,
    type,
    data,
    meta,
    snapshot,
    created_at: now,
    updated_at: now,
  };
  const { is_new, ...feedback } = await db
    .insertInto("feedback")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .expression(sql`user_id, (meta ->> 'chat_id'), (meta ->> 'message_id'), type`)
        .doUpdateSet({ data, meta, snapshot, updated_at: now }),
    )
    .returning([...allColumns, sql<boolean>`xmax = 0`.as("is_new")])
    .executeTakeFirstOrThrow();
  return { feedback, isNew: is_new };
}

export async function changeFeedback(
  db: FeedbackDatabase,
  id: string,
  change: FeedbackChange,
): Promise<Feedback | undefined> {
  return await db
    .updateTable("feedback")
    .set({ ...change, updated_at: seconds() })
    .where("id", "=", id)
    .returning(allColumns)
    .executeTakeFirst();
}

/** Deletes one, all of an account, or all there is; resolves to how many there were. */
export async function deleteFeedback(
  db: FeedbackDatabase,
  which: { id?: string; userId?: string },
): Promise<number> {
  let query = db.deleteFrom("feedback");
  query = which.id === undefined ? query : query.where("id", "=", which.id);
  query = which.userId === undefined ? query : query.where("user_id", "=", which.userId);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

/** One page of everybody's, and how many there are. */
export async function listFeedback(
  db: FeedbackDatabase,
  { page, order_by: order, direction, model_id: model }: ListQuery,
): Promise<{ rows: FeedbackFacts[]; total: number }> {
  const chosen = db
    .selectFrom("feedback")
    .$if(Boolean(model), (query) => query.where(sql`data ->> 'model_id'`, "=", model));
  const { total } = await chosen
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  const columns = {
    created_at: sql`feedback.created_at`,
    updated_at: sql`feedback.updated_at`,
    model_id: sql`data ->> 'model_id'`,
    rating: sql`(data ->> 'rating')::int`,
    username: sql`(select lower(name) from "user" where "user".id = feedback.user_id)`,
  };
  const rows = await chosen
    .select(factColumns)
    .orderBy(columns[order], direction)
    .orderBy("id")
    .limit(pageSize)
    .offset((page - 1) * pageSize)
    .execute();
  return { rows, total: Number(total) };
}

/** Which rows to read, and how much of each: with the chats around the replies, without, or where they stand only. */
export interface Reading {
  readonly userId?: string;
  readonly modelId?: string | undefined;
  readonly columns: "all" | "facts" | "ids";
}

/** The next rows behind one, oldest first. */
export async function readNext(
  db: FeedbackDatabase,
  { userId, modelId, columns }: Reading,
  after: { created_at: number; id: string } | undefined,
): Promise<{ id: string; created_at: number }[]> {
  let query = db.selectFrom("feedback").orderBy("created_at").orderBy("id").limit(rowsAtOnce[columns]);
  query = userId === undefined ? query : query.where("user_id", "=", userId);
  query = modelId ? query.where(sql`data ->> 'model_id'`, "=", modelId) : query;
  query = after ? query.where(sql<boolean>`(created_at, id) > (${after.created_at}, ${after.id})`) : query;
  return await query.select(columnsOf[columns]).execute();
}

const columnsOf = { all: allColumns, facts: factColumns, ids: idColumns } as const;
/** A snapshot can take megabytes. */
const rowsAtOnce = { all: 5, facts: 200, ids: 1000 } as const;

/** Models whose replies were rated. */
export async function listModelIds(db: FeedbackDatabase): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct data ->> 'model_id' as id from feedback order by 1`.execute(db);
  return rows.map(({ id }) => id);
}
