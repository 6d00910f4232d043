/** The stretch of time that a chat stands under in the list. */
export type TimeGroup = "today" | "yesterday" | "week" | `${number}-${number}`;

const dayMs = 86_400_000;

/** The group of a time in epoch seconds, by the days of this machine: the last week by days, what is older by months. */
export function timeGroup(seconds: number, now: Date): TimeGroup {
  const today = startOfDay(now);
  const at = new Date(seconds * 1000);
  // Days are counted from midnight to midnight: with daylight saving they are not all of one length.
  const days = Math.round((today.getTime() - startOfDay(at).getTime()) / dayMs);
  if (days <= 0) {
    return "today";
  }
  if (days === 1) {
    return "yesterday";
  }
  return days <= 7 ? "week" : `${at.getFullYear()}-${at.getMonth() + 1}`;
}

/** "October", with the year where it is another one. */
export function monthTitle(group: TimeGroup, { locale, now }: { locale: string; now: Date }): string {
  const [year = 0, month = 1] = group.split("-").map(Number);
  const isThisYear = year === now.getFullYear();
  const title = new Intl.DateTimeFormat(locale, {
    month: "long",
    ...(isThisYear ? {} : { year: "numeric" }),
  });
  return title.format(new Date(year, month - 1, 15));
}

function startOfDay(date: Date): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate());
}
