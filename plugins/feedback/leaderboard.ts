import { sql } from "kysely";
import type { Notices } from "#kernel/services.ts";
import { createElo, type Rated } from "./elo.ts";
import type { LeaderboardEntry } from "./schema.ts";
import type { FeedbackDatabase } from "./tables.ts";

/** How models compare, as people rated them. */
export interface LeaderboardOf {
  /** Standings by all ratings, or by those with a tag that holds one of the query's words. */
  entries(query: string): Promise<LeaderboardEntry[]>;
  /** Wins and losses of one model's replies by day (UTC); `days` back from today, 0 for all there are. */
  history(modelId: string, days: number): Promise<{ date: string; won: number; lost: number }[]>;
  /** Drops what is known, here and on all replicas. */
  changed(): Promise<void>;
}

const channel = "feedback";
const batchSize = 2_000;
const maxKept = 50;

/** Opens the leaderboard: computed when it is asked for, kept until feedback changes on any replica. */
export async function openLeaderboard(db: FeedbackDatabase, notices: Notices): Promise<LeaderboardOf> {
  const kept = new Map<string, Promise<LeaderboardEntry[]>>();
  // One at a time: two administrators cannot make the server read everything twice at once.
  let last: Promise<unknown> = Promise.resolve();
  await notices.listen(
    channel,
    () => kept.clear(),
    () => kept.clear(),
  );
  return {
    entries(query) {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      const key = words.join(" ");
      const known = kept.get(key);
      if (known !== undefined) {
        return known;
      }
      const made = last.then(() => compute(db, words));
      last = made.catch(() => undefined);
      const [oldest] = kept.keys();
      if (kept.size >= maxKept && oldest !== undefined) {
        kept.delete(oldest);
      }
      kept.set(key, made);
      made.catch(() => void (kept.get(key) === made && kept.delete(key)));
      return made;
    },
    history: (modelId, days) => readHistory(db, modelId, days),
    async changed() {
      kept.clear();
      await notices.notify(channel, {});
    },
  };
}

/** Reads ratings a batch at a time: what is in memory is the standings, never the ratings. */
async function compute(db: FeedbackDatabase, words: readonly string[]): Promise<LeaderboardEntry[]> {
  const elo = createElo();
  let after: { created_at: number; id: string } | undefined;
  for (;;) {
    const rows = await readBatch(db, after);
    for (const { model_id, siblings, rating, tags } of rows) {
      const given = (tags ?? []).filter((tag) => tag !== "");
      if (words.length === 0 || given.some((tag) => words.some((word) => tag.toLowerCase().includes(word)))) {
        elo.add({ modelId: model_id, siblings: siblings ?? [], rating, tags: given });
      }
    }
    after = rows.at(-1);
    if (rows.length < batchSize || after === undefined) {
      return elo.entries();
    }
  }
}

interface RatingRow {
  readonly id: string;
  readonly created_at: number;
  readonly model_id: string;
  readonly rating: Rated["rating"];
  readonly siblings: string[] | null;
  readonly tags: string[] | null;
}

async function readBatch(
  db: FeedbackDatabase,
  after: { created_at: number; id: string } | undefined,
): Promise<RatingRow[]> {
  const { rows } = await sql<RatingRow>`
    select id, created_at, data ->> 'model_id' as model_id, (data ->> 'rating')::int as rating,
      nullif(data -> 'sibling_model_ids', 'null'::jsonb) as siblings,
      coalesce(nullif(data -> 'tags', 'null'::jsonb), '[]'::jsonb)
        || coalesce(nullif(meta -> 'tags', 'null'::jsonb), '[]'::jsonb) as tags
    from feedback
    where type = 'rating' and ${after === undefined ? sql`true` : sql`(created_at, id) > (${after.created_at}, ${after.id})`}
    order by created_at, id limit ${batchSize}`.execute(db);
  return rows;
}

const dayMs = 86_400_000;

async function readHistory(db: FeedbackDatabase, modelId: string, days: number) {
  const today = Math.floor(Date.now() / dayMs);
  const from = days === 0 ? 0 : (today - days + 1) * (dayMs / 1000);
  const { rows } = await sql<{ date: string; won: number; lost: number }>`
    select to_char(to_timestamp(created_at) at time zone 'UTC', 'YYYY-MM-DD') as date,
      count(*) filter (where data ->> 'rating' = '1') as won,
      count(*) filter (where data ->> 'rating' = '-1') as lost
    from feedback where type = 'rating' and data ->> 'model_id' = ${modelId} and created_at >= ${from}
    group by 1 order by 1`.execute(db);
  if (days === 0) {
    return rows;
  }
  const byDate = new Map(rows.map((row) => [row.date, row]));
  return Array.from({ length: days }, (_, at) => {
    const date = new Date((today - days + 1 + at) * dayMs).toISOString().slice(0, 10);
    return byDate.get(date) ?? { date, won: 0, lost: 0 };
  });
}
