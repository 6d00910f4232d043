import { type Pattern, toPattern, weekdayCodes, weekend, workdays } from "./pattern.ts";

/** The language that is spoken: the kit's `t`, `plural` and locale. */
export interface Speech {
  readonly locale: string;
  t(text: string, values?: Readonly<Record<string, string | number>>): string;
  plural(count: number, one: string, other: string): string;
}

/** A rule in words that `readWords` reads again; undefined for a rule that words cannot say. */
export function toWords(rule: string, speech: Speech): string | undefined {
  const pattern = toPattern(rule);
  if (pattern === undefined) {
    return undefined;
  }
  const { t } = speech;
  const { times, count, until, once } = pattern;
  const at =
    times.length === 0
      ? ""
      : ` ${t("at {times}", {
          times: list(
            times.map((time) => toTime(time, speech)),
            speech,
          ),
        })}`;
  if (once !== null) {
    return `${t("once on {date}", { date: toDate(once, speech) })}${at}`;
  }
  const end =
    count !== null
      ? `, ${speech.plural(count, "{count} time", "{count} times")}`
      : until !== null
        ? ` ${t("until {date}", { date: toDate(until, speech) })}`
        : "";
  return `${often(pattern, speech)}${at}${end}`;
}

function often(pattern: Pattern, speech: Speech): string {
  const { t, plural } = speech;
  const { freq, interval: count, days } = pattern;
  switch (freq) {
    case "MINUTELY":
      return plural(count, "every minute", "every {count} minutes");
    case "HOURLY":
      return plural(count, "every hour", "every {count} hours");
    case "DAILY":
      return plural(count, "every day", "every {count} days");
    case "WEEKLY": {
      if (count === 1 && days.length > 0) {
        return isSame(days, workdays)
          ? t("every weekday")
          : isSame(days, weekend)
            ? t("every weekend")
            : t("every {days}", {
                days: list(
                  days.map((day) => toDay(day, speech)),
                  speech,
                ),
              });
      }
      const weeks = plural(count, "every week", "every {count} weeks");
      return days.length === 0
        ? weeks
        : `${weeks} ${t("on {days}", {
            days: list(
              days.map((day) => toDay(day, speech)),
              speech,
            ),
          })}`;
    }
    case "MONTHLY":
      return `${plural(count, "every month", "every {count} months")}${onDays(pattern, speech)}`;
    case "YEARLY":
      return `${plural(count, "every year", "every {count} years")}${onDays(pattern, speech)}`;
  }
}

function onDays({ days, monthDays, month }: Pattern, speech: Speech): string {
  const { t } = speech;
  if (month !== null) {
    const date = new Date(Date.UTC(2024, month - 1, monthDays[0]));
    const format = new Intl.DateTimeFormat(speech.locale, { day: "numeric", month: "long", timeZone: "UTC" });
    return ` ${t("on {days}", { days: format.format(date) })}`;
  }
  if (days.length > 0) {
    const named = days.map((day) =>
      t("the {ordinal} {weekday}", {
        ordinal: toOrdinal(day.slice(0, -2), speech),
        weekday: toDay(day.slice(-2), speech),
      }),
    );
    return ` ${t("on {days}", { days: list(named, speech) })}`;
  }
  const named = monthDays.map((day) =>
    day === -1 ? t("the last day") : t("the {number}", { number: toNumber(day, speech) }),
  );
  return named.length === 0 ? "" : ` ${t("on {days}", { days: list(named, speech) })}`;
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && others.every((one) => some.includes(one));

const list = (parts: readonly string[], { locale }: Speech): string =>
  new Intl.ListFormat(locale, { type: "conjunction" }).format(parts);

function toDay(code: string, { locale }: Speech): string {
  // The first of January 2024 was a Monday.
  const date = new Date(Date.UTC(2024, 0, 1 + weekdayCodes.findIndex((known) => known === code)));
  return new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" }).format(date);
}

function toOrdinal(number: string, { t }: Speech): string {
  const names: Readonly<Record<string, string>> = {
    "1": t("first"),
    "2": t("second"),
    "3": t("third"),
    "4": t("fourth"),
    "5": t("fifth"),
    "-1": t("last"),
  };
  return names[number] ?? number;
}

function toNumber(day: number, { locale }: Speech): string {
  if (!locale.startsWith("en")) {
    return `${day}.`;
  }
  const ends: Partial<Record<Intl.LDMLPluralRule, string>> = { one: "st", two: "nd", few: "rd" };
  return `${day}${ends[new Intl.PluralRules("en", { type: "ordinal" }).select(day)] ?? "th"}`;
}

const toTime = (time: string, { locale }: Speech): string =>
  new Intl.DateTimeFormat(locale, { timeStyle: "short", timeZone: "UTC" }).format(
    new Date(`2024-01-01T${time}:00Z`),
  );

const toDate = (date: string, { locale }: Speech): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" }).format(
    new Date(`${date}T00:00:00Z`),
  );
