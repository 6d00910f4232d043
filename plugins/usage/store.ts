import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { UsageBatch } from "./ledger.ts";
import { toDays } from "./days.ts";
import { type Element, toArrayText, toColumnText } from "./array-text.ts";
import { recordColumns, recordTypes } from "./columns.ts";
import type { UsageDatabase } from "./tables.ts";

const list = sql.raw(recordColumns.join(", "));

/** Columns of a day's sums and the types of their values. */
const dayColumns = {
  day: "date",
  user_id: "text",
  model_id: "text",
  provider: "text",
  calls: "bigint",
  failed: "bigint",
  estimated: "bigint",
  input_tokens: "bigint",
  output_tokens: "bigint",
  cached_tokens: "bigint",
  reasoning_tokens: "bigint",
  duration_ms: "bigint",
} as const;

const dayNames = Object.keys(dayColumns) as (keyof typeof dayColumns)[];
const dayList = sql.raw(dayNames.join(", "));
const dayKey = ["day", "user_id", "model_id", "provider"] as const;
const added = sql.raw(
  dayNames
    .slice(dayKey.length)
    .map((name) => `${name} = usage_day.${name} + excluded.${name}`)
    .join(", "),
);

/** Tries of a batch among whose accounts there is always another one that goes. */
const mostTries = 5;

/**
 * Writes a batch and adds it to the sums of its days, in one statement. One that is there already counts for nothing:
 * a batch whose fate is unknown can be written again.
 */
export async function insertBatch(db: UsageDatabase, batch: UsageBatch): Promise<void> {
  let { records } = batch;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const users = [...new Set(records.flatMap(({ user_id: id }) => id ?? []))];
    const known = await insertKnown(db, { id: batch.id, records, users });
    if (known.length === users.length) {
      return;
    }
    // An account that is gone by now leaves its calls behind without its name.
    const isKnown = new Set(known);
    records = records.map((record) =>
      record.user_id !== null && isKnown.has(record.user_id) ? record : { ...record, user_id: null },
    );
  }
  throw new Error("The accounts of a batch of usage records keep changing.");
}

/** Writes the batch if all of `users` are there and stay until it is written; resolves with those that are. */
async function insertKnown(
  db: UsageDatabase,
  { id, records, users }: UsageBatch & { users: readonly string[] },
): Promise<string[]> {
  const times = records.map(({ created_at: at }) => at);
  const arrays = recordColumns.map((name) => {
    const text = toColumnText(records.map((record) => record[name]));
    return sql`${text}::text::${sql.raw(recordTypes[name])}[]`;
  });
  const days = toDays(records);
  const dayArrays = dayNames.map((name) =>
    toArray(
      days.map((day) => day[name]),
      dayColumns[name],
    ),
  );
  const { rows } = await sql<{ known: string[] }>`with known as materialized (
      select id from "user" where id = any(${toArray(users, "text")}) for key share
    ), batch as (
      insert into usage_batch (id, calls, first_at, last_at, users, ${list})
      select ${id}::uuid, ${records.length}::integer, ${Math.min(...times)}::bigint, ${Math.max(...times)}::bigint, ${toArray(users, "text")},
        ${sql.join(arrays)}
      where (select count(*) from known) = ${users.length}::bigint
      on conflict do nothing returning id
    ), summed as (
      insert into usage_day (${dayList})
      select ${dayList} from unnest(${sql.join(dayArrays)}) as r (${dayList})
      where exists (select from batch)
      on conflict (${sql.raw(dayKey.join(", "))}) do update set ${added}
    )
    select array(select id from known) as known`.execute(db);
  return rows[0]?.known ?? [];
}

function toArray(values: readonly Element[], type: string) {
  return sql`${toArrayText(values)}::text::${sql.raw(type)}[]`;
}

/** Deletes the records of calls before the last `days` days; the sums of their days stay. */
export async function dropOldRecords(db: UsageDatabase, days: number): Promise<void> {
  await db
    .deleteFrom("usage_batch")
    .where("last_at", "<", seconds() - days * 86_400)
    .execute();
}
