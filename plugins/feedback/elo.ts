import type { LeaderboardEntry } from "./schema.ts";

/** One rating with what the leaderboard needs of it. */
export interface Rated {
  readonly modelId: string;
  readonly siblings: readonly string[];
  readonly rating: 1 | -1;
  readonly tags: readonly string[];
}

/** The most that one comparison moves a rating. */
export const kFactor = 32;
export const startRating = 1000;

const topTags = 5;
/** Model ids and tags are what people send: neither may fill the memory. */
const maxModels = 5_000;
const maxTags = 100_000;

interface Standing {
  rating: number;
  won: number;
  lost: number;
  readonly tags: Map<string, number>;
}

/** Elo ratings of models. Ratings are added in the order in which they were given. */
export interface Elo {
  add(rated: Rated): void;
  /** Models that were compared, the best first. */
  entries(): LeaderboardEntry[];
}

export function createElo(): Elo {
  const standings = new Map<string, Standing>();
  let tags = 0;
  const standingOf = (id: string): Standing | undefined => {
    const known = standings.get(id);
    if (known !== undefined || standings.size >= maxModels) {
      return known;
    }
    const fresh: Standing = { rating: startRating, won: 0, lost: 0, tags: new Map() };
    standings.set(id, fresh);
    return fresh;
  };
  const count = (standing: Standing, tag: string) => {
    const before = standing.tags.get(tag);
    if (before !== undefined || tags < maxTags) {
      tags += before === undefined ? 1 : 0;
      standing.tags.set(tag, (before ?? 0) + 1);
    }
  };
  return {
    add({ modelId, siblings, rating, tags: given }) {
      // A reply that stood alone says nothing about which model is better.
      const rivals = new Set(siblings.filter((id) => id !== modelId));
      const own = rivals.size > 0 ? standingOf(modelId) : undefined;
      if (own === undefined) {
        return;
      }
      for (const id of rivals) {
        const rival = standingOf(id);
        if (rival !== undefined) {
          compare(rating === 1 ? own : rival, rating === 1 ? rival : own);
        }
      }
      new Set(given).forEach((tag) => count(own, tag));
    },
    entries: () =>
      [...standings]
        .map(([id, standing]) => toEntry(id, standing))
        .toSorted((a, b) => b.rating - a.rating || (a.model_id < b.model_id ? -1 : 1)),
  };
}

/** A win moves as many points as it was unlikely. */
function compare(winner: Standing, loser: Standing): void {
  const expected = 1 / (1 + 10 ** ((loser.rating - winner.rating) / 400));
  const points = kFactor * (1 - expected);
  winner.rating += points;
  loser.rating -= points;
  winner.won += 1;
  loser.lost += 1;
}

function toEntry(id: string, { rating, won, lost, tags }: Standing): LeaderboardEntry {
  const most = [...tags].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, topTags);
  return {
    model_id: id,
    rating: Math.round(rating),
    won,
    lost,
    count: won + lost,
    top_tags: most.map(([tag, count]) => ({ tag, count })),
  };
}
