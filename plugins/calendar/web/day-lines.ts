import type { Occurrence } from "./events.svelte.ts";

/** One line of a day: an event, or all runs of one automation on it, which begin with `first`. */
export interface DayLine {
  readonly key: string;
  readonly first: Occurrence;
  /** In the order of their times; empty for an event. */
  readonly runs: readonly Occurrence[];
  /** The day has more runs than are listed. */
  readonly hasMore: boolean;
}

const scheduledTasks = "__scheduled_tasks__";

export const isRun = ({ event }: Occurrence): boolean => event.calendar_id === scheduledTasks;

const metaOf = ({ event }: Occurrence) =>
  event.meta as { automation_id?: unknown; has_more?: boolean } | null;

const automationOf = (run: Occurrence): unknown => metaOf(run)?.automation_id;

/** Events of whole days, then the others, then the runs: what people agreed on must not drown in what runs by itself. */
const rankOf = ({ first }: DayLine): number => (isRun(first) ? 2 : first.event.all_day ? 0 : 1);

/** Lines of one day, runs of the same automation in one. */
export function toDayLines(occurrences: readonly Occurrence[]): DayLine[] {
  const sorted = occurrences.toSorted((one, other) => one.start.getTime() - other.start.getTime());
  const runs = Map.groupBy(sorted.filter(isRun), automationOf);
  const lines = [
    ...sorted
      .filter((one) => !isRun(one))
      .map((first) => ({ key: first.key, first, runs: [], hasMore: false })),
    ...[...runs.values()].map((all) => {
      const first = all[0] as Occurrence;
      const hasMore = all.some((run) => metaOf(run)?.has_more === true);
      return { key: `runs ${first.key}`, first, runs: all, hasMore };
    }),
  ];
  return lines.toSorted((one, other) => rankOf(one) - rankOf(other));
}
