import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { UsageBatch } from "./ledger.ts";
import type { UsageRow } from "./record.ts";
import type { UsageDatabase } from "./tables.ts";

/** Columns of a record and their types, in the order in which they are sent. */
const columns = {
  created_at: "bigint",
  user_id: "text",
  model_id: "text",
  base_model_id: "text",
  provider: "text",
  connection: "text",
  wire: "text",
  task: "text",
  chat_id: "text",
  message_id: "text",
  input_tokens: "bigint",
  output_tokens: "bigint",
  cached_tokens: "bigint",
  reasoning_tokens: "bigint",
  estimated: "boolean",
  duration_ms: "bigint",
  first_token_ms: "bigint",
  outcome: "text",
  tools: "text",
} as const satisfies Record<keyof UsageRow, string>;

const names = Object.keys(columns) as (keyof UsageRow)[];
const list = sql.raw(names.join(", "));
/** An account that is gone by now leaves its calls behind without its name. */
const stored: Partial<Record<keyof UsageRow, string>> = { user_id: "known_id", tools: "tools::text[]" };
const values = sql.raw(names.map((name) => stored[name] ?? name).join(", "));

/** Sorted, so that two processes which add to the same sums do not wait for each other in a circle. */
const addToDays = sql`insert into usage_day (day, user_id, model_id, provider, calls, failed, estimated, input_tokens, output_tokens,
    cached_tokens, reasoning_tokens, duration_ms)
  select (to_timestamp(created_at) at time zone 'UTC')::date as day, known_id, model_id, provider, count(*),
    count(*) filter (where outcome = 'failed'), count(*) filter (where estimated), sum(input_tokens),
    sum(output_tokens), sum(cached_tokens), sum(reasoning_tokens), sum(duration_ms)
  from called
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  on conflict (day, user_id, model_id, provider) do update set
    calls = usage_day.calls + excluded.calls,
    failed = usage_day.failed + excluded.failed,
    estimated = usage_day.estimated + excluded.estimated,
    input_tokens = usage_day.input_tokens + excluded.input_tokens,
    output_tokens = usage_day.output_tokens + excluded.output_tokens,
    cached_tokens = usage_day.cached_tokens + excluded.cached_tokens,
    reasoning_tokens = usage_day.reasoning_tokens + excluded.reasoning_tokens,
    duration_ms = usage_day.duration_ms + excluded.duration_ms`;

/**
 * Writes records and adds them to the sums of their days, in one statement. A batch that is there already counts for
 * nothing: one whose fate is unknown can be written again. Each column goes as one array; an object for each record
 * would cost the database twice as much.
 */
export async function insertBatch(db: UsageDatabase, { id, rows }: UsageBatch): Promise<void> {
  const arrays = names.map((name) => sql`${toArray(rows, name)}::text::${sql.raw(columns[name])}[]`);
  const users = [...new Set(rows.map((row) => row.user_id))];
  await sql`with batch as (
      insert into usage_batch (id, created_at) values (${id}, ${seconds()}) on conflict do nothing returning id
    ), known as (
      select id from "user" where id = any(${users}::text[]) for key share
    ), called as materialized (
      select known.id as known_id, r.*
      from unnest(${sql.join(arrays)}) as r (${list}) left join known on known.id = r.user_id
      where exists (select from batch)
    ), written as (
      insert into usage_record (${list}) select ${values} from called
    )
    ${addToDays}`.execute(db);
}

/** One column of all records, as the text of a Postgres array. */
function toArray(rows: readonly UsageRow[], name: keyof UsageRow): string {
  return `{${rows.map((row) => toElement(row[name])).join(",")}}`;
}

function toElement(value: UsageRow[keyof UsageRow]): string {
  if (value === null) {
    return "NULL";
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? '"{}"' : quoted(`{${value.map(toElement).join(",")}}`);
  }
  return typeof value === "string" ? quoted(value) : String(value);
}

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, "\\$&") : text}"`;
}

/** Deletes the records of calls before the last `days` days; the sums of their days stay. */
export async function dropOldRecords(db: UsageDatabase, days: number): Promise<void> {
  // Nobody tries a batch again after a day.
  await db
    .deleteFrom("usage_batch")
    .where("created_at", "<", seconds() - 86_400)
    .execute();
  await db
    .deleteFrom("usage_record")
    .where("created_at", "<", seconds() - days * 86_400)
    .execute();
}
