import { type RawBuilder, sql } from "kysely";
import { recordColumns } from "./columns.ts";
import { toSeconds } from "./period.ts";
import { ofThem, type Range } from "./sums.ts";
import type { UsageDatabase, UsageRecord } from "./tables.ts";

// What only the records of single calls tell; they reach back as far as they are kept.

/** How many different chats had calls. */
export async function countChats(db: UsageDatabase, range: Range): Promise<number> {
  const { rows } = await sql<{ chats: number }>`select count(distinct chat_id) as chats
    from ${records(["chat_id"], range)}`.execute(db);
  return rows[0]?.chats ?? 0;
}

/** Different chats by model. */
export async function countChatsByModel(db: UsageDatabase, range: Range): Promise<Map<string, number>> {
  const { rows } = await sql<{ model_id: string; chats: number }>`
    select model_id, count(distinct chat_id) as chats from ${records(["model_id", "chat_id"], range)}
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
    select name, count(*) as count from ${records(["tools"], range)}, unnest(tools::text[]) as name
    group by name order by count desc, name limit ${limit}`.execute(db);
  return rows;
}

/** Calls by hour of the day (UTC). */
export async function countByHour(
  db: UsageDatabase,
  range: Range,
): Promise<{ hour: number; count: number }[]> {
  const { rows } = await sql<{ hour: number; count: number }>`
    select (created_at / 3600) % 24 as hour, count(*) as count from ${records([], range)}
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
    from ${records(["model_id", "input_tokens", "output_tokens"], range)}
    group by 1, 2 order by 1, count desc, 2`.execute(db);
  return rows;
}

/** A call as it is stored, with an id of its own. */
export type StoredCall = UsageRecord & { readonly id: string };

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
  const ofModel = modelId === undefined ? sql`true` : sql`model_id = ${modelId}`;
  const ofChat = chatId === undefined ? sql`true` : sql`chat_id = ${chatId}`;
  const { rows } = await sql<StoredCall>`
    select batch_id || '.' || place as id, ${sql.join(recordColumns.map(shown))}
    from ${records(recordColumns, range)} where ${ofModel} and ${ofChat}
    order by created_at desc, batch_id desc, place desc
    offset ${skip} limit ${limit}`.execute(db);
  return rows;
}

function shown(name: keyof UsageRecord): RawBuilder<unknown> {
  return sql.raw(name === "tools" ? "tools::text[] as tools" : name);
}

/** The calls of a range as rows of these columns, with time, account and their place in their batch. */
function records(wanted: readonly (keyof UsageRecord)[], { period, whose }: Range): RawBuilder<unknown> {
  const { from, to } = toSeconds(period);
  const names = [...new Set(["created_at", "user_id", ...wanted])].map((name) => sql.ref(name));
  const columns = sql.join(names);
  const arrays = sql.join(names.map((name) => sql`usage_column(${name}, calls)`));
  const theirs = whose.userId === undefined ? sql`true` : sql`users @> array[${whose.userId}::text]`;
  return sql`(select * from
      (select id as batch_id, r.* from
        (select * from usage_batch where last_at >= ${from} and first_at < ${to} and ${theirs}) as batch,
        unnest(${arrays}) with ordinality as r (${columns}, place)
      ) as taken
      where created_at >= ${from} and created_at < ${to} and ${ofThem(whose)}
    ) as called`;
}
