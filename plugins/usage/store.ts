import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { UsageRow } from "./record.ts";
import type { UsageDatabase } from "./tables.ts";

/**
 * Writes records and adds them to the sums of their days, in one statement. A record that is there already counts for
 * nothing: a batch whose fate is unknown can be written again.
 */
export async function insertRecords(db: UsageDatabase, rows: readonly UsageRow[]): Promise<void> {
  await sql`with written as (
      insert into usage_record
      select r.id, r.created_at, (select id from "user" where id = r.user_id), r.model_id, r.base_model_id, r.provider,
        r.connection, r.wire, r.task, r.chat_id, r.message_id, r.input_tokens, r.output_tokens, r.cached_tokens,
        r.reasoning_tokens, r.estimated, r.duration_ms, r.first_token_ms, r.outcome, r.tools
      from jsonb_to_recordset(cast(${JSON.stringify(rows)} as jsonb)) as r (id text, created_at bigint, user_id text,
        model_id text, base_model_id text, provider text, connection text, wire text, task text, chat_id text,
        message_id text, input_tokens bigint, output_tokens bigint, cached_tokens bigint, reasoning_tokens bigint,
        estimated boolean, duration_ms bigint, first_token_ms bigint, outcome text, tools text[])
      on conflict (id) do nothing
      returning *
    )
    insert into usage_day (day, user_id, model_id, provider, calls, failed, estimated, input_tokens, output_tokens,
      cached_tokens, reasoning_tokens, duration_ms)
    select (to_timestamp(created_at) at time zone 'UTC')::date as day, user_id, model_id, provider, count(*),
      count(*) filter (where outcome = 'failed'), count(*) filter (where estimated), sum(input_tokens),
      sum(output_tokens), sum(cached_tokens), sum(reasoning_tokens), sum(duration_ms)
    from written
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
      duration_ms = usage_day.duration_ms + excluded.duration_ms`.execute(db);
}

/** Deletes the records of calls before the last `days` days; the sums of their days stay. */
export async function dropOldRecords(db: UsageDatabase, days: number): Promise<void> {
  await db
    .deleteFrom("usage_record")
    .where("created_at", "<", seconds() - days * 86_400)
    .execute();
}
