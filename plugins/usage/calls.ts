import { type Selectable, sql } from "kysely";
import { toSeconds } from "./period.ts";
import { ofThem, type Range } from "./sums.ts";
import type { UsageDatabase, UsageRecordTable } from "./tables.ts";

// What only the records of single calls tell; they reach back as far as they are kept.

/** How many different chats had calls. */
export async function countChats(db: UsageDatabase, range: Range): Promise<number> {
  const { rows } = await sql<{ chats: number }>`select count(distinct chat_id) as chats
    from usage_record where ${during(range)}`.execute(db);
  return rows[0]?.chats ?? 0;
}

/** Different chats by model. */
export async function countChatsByModel(db: UsageDatabase, range: Range): Promise<Map<string, number>> {
  const { rows } = await sql<{ model_id: string; chats: number }>`
    select model_id, count(distinct chat_id) as chats from usage_record where ${during(range)}
    group by model_id`.execute(db);
  return new Map(rows.map(({ model_id, chats }) => [model_id, chats]));
}

/** The tools that models called most. */
export async function topTools(
  db: UsageDatabase,
  range: Range,
  limit: number,
): Promise<{ name: string; count: number }[]> {
  const { rows } = await sql<{ name: string; count: number }>`
    select name, count(*) as count from usage_record, unnest(tools) as name where ${during(range)}
    group by name order by count desc, name limit ${limit}`.execute(db);
  return rows;
}

/** Calls by hour of the day (UTC). */
export async function countByHour(
  db: UsageDatabase,
  range: Range,
): Promise<{ hour: number; count: number }[]> {
  const { rows } = await sql<{ hour: number; count: number }>`
    select (created_at / 3600) % 24 as hour, count(*) as count from usage_record where ${during(range)}
    group by 1 order by count desc, hour`.execute(db);
  return rows;
}

/** Calls and tokens of each hour and model: `date` is `YYYY-MM-DD HH:00`. */
export async function sumByHour(
  db: UsageDatabase,
  range: Range,
): Promise<{ date: string; model_id: string; count: number; total_tokens: number }[]> {
  const { rows } = await sql<{ date: string; model_id: string; count: number; total_tokens: number }>`
    select to_char(to_timestamp(created_at) at time zone 'UTC', 'YYYY-MM-DD HH24:00') as date, model_id,
      count(*) as count, sum(input_tokens + output_tokens)::bigint as total_tokens
    from usage_record where ${during(range)} group by 1, 2 order by 1, count desc, 2`.execute(db);
  return rows;
}

/** A call as it is stored. */
export type StoredCall = Selectable<UsageRecordTable>;

export interface CallFilter {
  readonly modelId?: string | undefined;
  readonly chatId?: string | undefined;
  readonly skip: number;
  readonly limit: number;
}

/** Single calls, newest first. */
export async function listCalls(
  db: UsageDatabase,
  range: Range,
  { modelId, chatId, skip, limit }: CallFilter,
): Promise<StoredCall[]> {
  return db
    .selectFrom("usage_record")
    .selectAll()
    .where(during(range))
    .$if(modelId !== undefined, (found) => found.where("model_id", "=", modelId as string))
    .$if(chatId !== undefined, (found) => found.where("chat_id", "=", chatId as string))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .offset(skip)
    .limit(limit)
    .execute();
}

function during({ period, whose }: Range) {
  const { from, to } = toSeconds(period);
  return sql<boolean>`created_at >= ${from} and created_at < ${to} and ${ofThem(whose)}`;
}
