import { type RawBuilder, sql } from "kysely";
import type { Period } from "./period.ts";
import type { UsageDatabase } from "./tables.ts";

/** Whose usage is looked at; everybody's without either. */
export interface Whose {
  readonly userId?: string | undefined;
  /** Members of this group. */
  readonly groupId?: string | undefined;
}

export interface Range {
  readonly period: Period;
  readonly whose: Whose;
}

/** Calls and tokens, added up. */
export interface Sums {
  readonly count: number;
  readonly failed: number;
  readonly estimated: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  readonly total_tokens: number;
}

/** What sums may be taken by. */
export interface Keys {
  readonly day: string;
  readonly user_id: string | null;
  readonly model_id: string;
  readonly provider: string;
}

/** The sums of a period by days, accounts, models or providers: most calls first, days in order. */
export async function sumBy<K extends keyof Keys>(
  db: UsageDatabase,
  keys: readonly [K, ...K[]],
  { period, whose }: Range,
): Promise<(Sums & Pick<Keys, K>)[]> {
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  const inOrder = (keys as readonly string[]).includes("day") ? sql`day, ` : sql``;
  const { rows } = await sql<Sums & Pick<Keys, K>>`select ${columns}, ${sums}
    from usage_day where ${within(period)} and ${ofThem(whose)}
    group by ${columns} order by ${inOrder} count desc, total_tokens desc, ${columns}`.execute(db);
  return rows;
}

/** All of a period in one. */
export async function sumAll(db: UsageDatabase, { period, whose }: Range): Promise<Sums> {
  const { rows } = await sql<Sums>`select ${sums} from usage_day
    where ${within(period)} and ${ofThem(whose)}`.execute(db);
  return rows[0] as Sums;
}

/** The condition on `user_id` that leaves the usage of those who are looked at. */
export function ofThem({ userId, groupId }: Whose): RawBuilder<boolean> {
  const own = userId === undefined ? sql<boolean>`true` : sql<boolean>`user_id = ${userId}`;
  return groupId === undefined
    ? own
    : sql<boolean>`${own} and user_id in (select user_id from group_member where group_id = ${groupId})`;
}

function within({ first, last }: Period): RawBuilder<boolean> {
  return sql<boolean>`day between cast(${first} as date) and cast(${last} as date)`;
}

/** Sums of bigints are numeric to the database; none of them is that large. */
const sums = sql.raw(
  [
    "calls as count",
    "failed as failed",
    "estimated as estimated",
    "input_tokens as input_tokens",
    "output_tokens as output_tokens",
    "cached_tokens as cached_tokens",
    "reasoning_tokens as reasoning_tokens",
    "input_tokens + output_tokens as total_tokens",
  ]
    .map((each) => each.split(" as ") as [string, string])
    .map(([of, name]) => `coalesce(sum(${of}), 0)::bigint as ${name}`)
    .join(", "),
);
