import { type RawBuilder, sql } from "kysely";
import type { Accounts } from "#plugins/accounts/service.ts";
import { addAmounts, type Amount, type PriceList } from "./prices.ts";
import { ofThem, type Range } from "./sums.ts";
import type { UsageDatabase } from "./tables.ts";

/** What a report is taken by. */
export type ReportKey = "day" | "model" | "user" | "group";

/** Calls of one day, model, account or group. */
export interface ReportRow {
  /** Null for accounts that are gone. */
  readonly key: string | null;
  readonly name: string | null;
  readonly count: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly total_tokens: number;
  /** Mean duration of a call; null without any. */
  readonly mean_ms: number | null;
  /** By currency, for models whose `meta.prices` says so. */
  readonly costs: readonly Amount[];
  /** Calls of models without prices: the costs leave them out. */
  readonly unpriced: number;
}

export interface ReportParts {
  readonly db: UsageDatabase;
  readonly accounts: Pick<Accounts, "summaries">;
  /** Prices of these models, by the ids that callers name. */
  prices(modelIds: readonly string[]): Promise<PriceList>;
}

interface Part {
  readonly key: string | null;
  readonly name: string | null;
  readonly model_id: string;
  readonly count: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly duration_ms: number;
}

/** Usage with durations and costs; days in order, else most tokens first. A member of two groups counts in both. */
export async function createReport(
  { db, accounts, prices }: ReportParts,
  { by, range }: { by: ReportKey; range: Range },
): Promise<ReportRow[]> {
  const parts = await readParts(db, by, range);
  const priced = await prices([...new Set(parts.map(({ model_id: id }) => id))]);
  const rows = [...Map.groupBy(parts, ({ key }) => key)].map(([key, own]) => toRow(key, own, priced));
  if (by === "day") {
    return rows.toSorted((a, b) => String(a.key).localeCompare(String(b.key)));
  }
  const sorted = rows.toSorted((a, b) => b.total_tokens - a.total_tokens || b.count - a.count);
  if (by !== "user") {
    return sorted;
  }
  const people = await accounts.summaries(sorted.flatMap(({ key }) => key ?? []));
  return sorted.map((row) => ({ ...row, name: people.get(row.key ?? "")?.name ?? null }));
}

async function readParts(db: UsageDatabase, by: ReportKey, { period, whose }: Range): Promise<Part[]> {
  const [key, name, joined] = sources[by];
  const { rows } = await sql<Part>`
    select ${key} as key, ${name} as name, used.model_id,
      sum(used.calls)::bigint as count, sum(used.failed)::bigint as failed,
      sum(used.input_tokens)::bigint as input_tokens, sum(used.output_tokens)::bigint as output_tokens,
      sum(used.cached_tokens)::bigint as cached_tokens, sum(used.duration_ms)::bigint as duration_ms
    from (select * from usage_day
      where day between cast(${period.first} as date) and cast(${period.last} as date) and ${ofThem(whose)}
    ) as used ${joined}
    group by 1, 2, 3`.execute(db);
  return rows;
}

/** The expressions of a report's key and name, and what they need joined. */
const sources: Readonly<
  Record<ReportKey, readonly [RawBuilder<unknown>, RawBuilder<unknown>, RawBuilder<unknown>]>
> = {
  day: [sql`to_char(used.day, 'YYYY-MM-DD')`, sql`null::text`, sql``],
  model: [sql`used.model_id`, sql`null::text`, sql``],
  user: [sql`used.user_id`, sql`null::text`, sql``],
  group: [
    sql`g.id`,
    sql`g.name`,
    sql`join group_member gm on gm.user_id = used.user_id join "group" g on g.id = gm.group_id`,
  ],
};

function toRow(key: string | null, parts: readonly Part[], prices: PriceList): ReportRow {
  const sum = (field: keyof Part) => parts.reduce((total, part) => total + Number(part[field]), 0);
  const count = sum("count");
  const [input, output] = [sum("input_tokens"), sum("output_tokens")];
  return {
    key,
    name: parts[0]?.name ?? null,
    count,
    failed: sum("failed"),
    input_tokens: input,
    output_tokens: output,
    cached_tokens: sum("cached_tokens"),
    total_tokens: input + output,
    mean_ms: count === 0 ? null : Math.round(sum("duration_ms") / count),
    costs: addAmounts(parts, prices),
    unpriced: parts.reduce((total, part) => total + (prices.has(part.model_id) ? 0 : Number(part.count)), 0),
  };
}
