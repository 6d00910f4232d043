/** A day as the server counts it. */
export interface CountedDay {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly count: number;
  readonly total_tokens: number;
}

/** A day's place in the calendar: weeks are columns, weekdays are rows. */
export interface Cell extends CountedDay {
  readonly week: number;
  /** 0 is Monday. */
  readonly weekday: number;
  /** 0 for a day without calls, else 1 to 4. */
  readonly level: number;
}

const dayMs = 86_400_000;

/** Every day of a period, also those that the server leaves out because nothing happened. */
export function toCells(
  days: readonly CountedDay[],
  { start, end }: { start: string; end: string },
): readonly Cell[] {
  const byDate = new Map(days.map((day) => [day.date, day]));
  const most = Math.max(0, ...days.map((day) => day.count));
  const first = Date.parse(start);
  const offset = toWeekday(first);
  const length = Math.round((Date.parse(end) - first) / dayMs) + 1;
  return Array.from({ length }, (_, index) => {
    const date = new Date(first + index * dayMs).toISOString().slice(0, 10);
    const day = byDate.get(date) ?? { date, count: 0, total_tokens: 0 };
    return {
      ...day,
      week: Math.floor((index + offset) / 7),
      weekday: (index + offset) % 7,
      level: day.count === 0 ? 0 : Math.ceil((day.count / most) * 4),
    };
  });
}

/** The weeks that hold the first day of a month, for the words above the calendar. */
export function toMonths(
  cells: readonly Cell[],
): readonly { readonly date: string; readonly week: number }[] {
  return cells.filter(({ date }) => date.endsWith("-01")).map(({ date, week }) => ({ date, week }));
}

const toWeekday = (at: number): number => (new Date(at).getUTCDay() + 6) % 7;
