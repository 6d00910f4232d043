import { blank, type Frequency, type Pattern, toRule, weekend, workdays } from "./pattern.ts";
import { monthWords, Reader, takeDate, takeTimes, toMonth } from "./read-clock.ts";

/** A rule that was read; else the reason why there is none. */
export type ReadRule =
  | { readonly rule: string }
  | {
      readonly problem: "empty" | "unknown" | "frequency" | "time" | "times" | "mixed";
      /** The part that was not understood. */
      readonly part?: string;
    };

/**
 * Reads "every weekday at 9" and its like, in English and in German whichever is spoken, into a rule. Words that are
 * left over make it refuse: half of a sentence would run at other times than were meant.
 */
export function readWords(text: string): ReadRule {
  const reader = new Reader(text);
  if (reader.rest === "") {
    return { problem: "empty" };
  }
  const found = readAll(reader);
  if ("problem" in found && found.problem === "time") {
    return found;
  }
  const left = reader.rest.replace(fillers, " ").trim();
  if (left !== "") {
    return { problem: "unknown", part: left };
  }
  return "freq" in found ? toResult(found) : found;
}

function toResult(pattern: Pattern): ReadRule {
  const rule = toRule(pattern);
  return rule === undefined ? { problem: "times" } : { rule };
}

const fillers =
  /\b(?:of|the|month|months|monats|year|jahres|on|am|an|and|und|im|in|des|der|den|a|every|each|jede[nrsm]?|always|immer)\b|[,.;]/g;

const weekdays: Readonly<Record<string, string>> = {
  mon: "MO",
  tue: "TU",
  wed: "WE",
  thu: "TH",
  fri: "FR",
  sat: "SA",
  sun: "SU",
  die: "TU",
  mit: "WE",
  don: "TH",
  fre: "FR",
  sam: "SA",
  son: "SU",
};
const weekdayWords =
  "monday|mon|tuesday|tues|tue|wednesday|wed|thursday|thurs|thur|thu|friday|fri|saturday|sat|sunday|sun|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag";
const toDay = (word: string) => (word.startsWith("sonna") ? "SA" : (weekdays[word.slice(0, 3)] as string));

const units: readonly (readonly [RegExp, Frequency])[] = [
  [/^minute/, "MINUTELY"],
  [/^(?:hour|stunde)/, "HOURLY"],
  [/^(?:day|tag)/, "DAILY"],
  [/^(?:week|woche)/, "WEEKLY"],
  [/^mon/, "MONTHLY"],
  [/^(?:year|jahr)/, "YEARLY"],
];
const adverbs: Readonly<Record<string, Frequency>> = {
  hourly: "HOURLY",
  stündlich: "HOURLY",
  daily: "DAILY",
  täglich: "DAILY",
  weekly: "WEEKLY",
  wöchentlich: "WEEKLY",
  monthly: "MONTHLY",
  monatlich: "MONTHLY",
  yearly: "YEARLY",
  annually: "YEARLY",
  jährlich: "YEARLY",
};
const counts: Readonly<Record<string, number>> = {
  other: 2,
  second: 2,
  third: 3,
  two: 2,
  three: 3,
  four: 4,
  six: 6,
  twelve: 12,
  zwei: 2,
  zweite: 2,
  zweiten: 2,
  zweites: 2,
  drei: 3,
  dritte: 3,
  dritten: 3,
  vier: 4,
  sechs: 6,
  zwölf: 12,
};
const countWords = `\\d{1,4}|${Object.keys(counts).join("|")}`;
const toCount = (word: string): number => counts[word] ?? Number(word || 1);
const unitWords =
  "minutes?|minuten|hours?|stunden?|days?|tage?|weeks?|wochen?|months?|monate?|monats|years?|jahre?";

function takeUnit(reader: Reader): { freq: Frequency; interval: number } | undefined {
  const match = reader.take(
    new RegExp(`\\b(?:every|each|alle|jede[nrsm]?)\\s(?:(${countWords})\\.?\\s)?(${unitWords})\\b`),
  );
  if (match !== undefined) {
    const unit = match[2] as string;
    const freq = units.find(([pattern]) => pattern.test(unit))?.[1] as Frequency;
    return { freq, interval: toCount(match[1] as string) };
  }
  const adverb = reader.take(new RegExp(`(?:^|\\s)(${Object.keys(adverbs).join("|")})(?=\\s|,|$)`))?.[1];
  return adverb === undefined ? undefined : { freq: adverbs[adverb] as Frequency, interval: 1 };
}

const ordinals: readonly (readonly [RegExp, string])[] = [
  [/^(?:first|1|erste)/, "1"],
  [/^(?:second|2|zweite)/, "2"],
  [/^(?:third|3|dritte)/, "3"],
  [/^(?:fourth|4|vierte)/, "4"],
  [/^(?:fifth|5|fünfte)/, "5"],
  [/^(?:last|letzte)/, "-1"],
];
const ordinalWords =
  "first|second|third|fourth|fifth|last|1st|2nd|3rd|4th|5th|[1-5]\\.|ersten?|zweiten?|dritten?|vierten?|fünften?|letzten?";

interface Days {
  readonly plain: readonly string[];
  readonly numbered: readonly string[];
  readonly monthDays: readonly number[];
  readonly month: number | null;
}

function takeDays(reader: Reader): Days {
  const numbered = reader
    .takeAll(new RegExp(`(?:^|\\s)(?:the\\s|den\\s)?(${ordinalWords})\\s(${weekdayWords})\\b`))
    .map(
      ([, ordinal, day]) =>
        `${ordinals.find(([pattern]) => pattern.test(ordinal as string))?.[1]}${toDay(day as string)}`,
    );
  const groups = [
    ...(reader.take(/\b(?:week\s?days?|working days?|workdays?|werktags?|werktagen?|wochentags)\b/)
      ? workdays
      : []),
    ...(reader.take(/\b(?:weekends?|wochenenden?)\b/) ? weekend : []),
  ];
  const plain = reader
    .takeAll(new RegExp(`\\b(${weekdayWords})s?\\b`))
    .map(([, day]) => toDay(day as string));
  const isLast = reader.take(/\b(?:last day|letzten tag)\b/) !== undefined;
  const yearly =
    reader.take(
      new RegExp(`(?:^|\\s)(\\d{1,2})(?:st|nd|rd|th|\\.)?\\s(?:of\\s)?(${monthWords})(?![a-zä])`),
    ) ??
    reader
      .take(new RegExp(`(?:^|\\s)(${monthWords})\\s(\\d{1,2})(?:st|nd|rd|th)?(?!\\d)`))
      ?.toSpliced(1, 2, "", "");
  return {
    plain: [...new Set([...groups, ...plain])],
    numbered,
    ...takeMonthDays(reader, yearly),
    ...(isLast ? { monthDays: [-1] } : {}),
  };
}

function takeMonthDays(reader: Reader, yearly: string[] | undefined): Pick<Days, "monthDays" | "month"> {
  if (yearly !== undefined) {
    const [day] = /\d+/.exec(yearly[0] as string) ?? ["0"];
    const [word] = /[a-zä]{3,}/.exec((yearly[0] as string).replace(/\d+(?:st|nd|rd|th)?|\bof\b/g, "")) ?? [
      "",
    ];
    return { monthDays: [Number(day)], month: toMonth(word) };
  }
  const days = reader.takeAll(/(?:^|\s)(\d{1,2})(?:st|nd|rd|th|\.)(?=\s|,|$)/).map(([, day]) => Number(day));
  return { monthDays: days, month: null };
}

function readAll(reader: Reader): Pattern | ReadRule {
  const until = takeDate(reader, String.raw`,?\s?\b(?:until|till|bis(?:\szum)?)\s(?:the\s)?`) ?? null;
  const counted = reader.take(/,?\s?\b(\d{1,4})\s?(?:times?|mal)\b/)?.[1];
  const isOnce = reader.take(/\b(?:once|einmal|einmalig)\b/) !== undefined;
  const date = takeDate(reader, String.raw`(?:\b(?:on|am)\s)?`);
  const times = takeTimes(reader);
  if (times === undefined) {
    return { problem: "time" };
  }
  if (isOnce || date !== undefined) {
    return date === undefined || times.length !== 1
      ? { problem: "mixed" }
      : { ...blank, times, once: date, count: 1 };
  }
  const other = reader.take(
    new RegExp(`\\b(?:every|each|jeden?)\\s(?:other|second|zweiten?)\\s(?=${weekdayWords})`),
  );
  const unit = other ? { freq: "WEEKLY" as const, interval: 2 } : takeUnit(reader);
  const days = takeDays(reader);
  const freq = unit?.freq ?? implied(days);
  if (freq === undefined) {
    return { problem: "frequency" };
  }
  const pattern = {
    ...blank,
    times,
    until,
    count: counted === undefined ? null : Number(counted),
    interval: unit?.interval ?? 1,
  };
  return combine({ ...pattern, freq }, days);
}

function implied({ plain, numbered, monthDays, month }: Days): Frequency | undefined {
  return plain.length > 0
    ? "WEEKLY"
    : month !== null
      ? "YEARLY"
      : numbered.length + monthDays.length > 0
        ? "MONTHLY"
        : undefined;
}

/** Puts days to the frequency that takes them. */
function combine(pattern: Pattern, { plain, numbered, monthDays, month }: Days): Pattern | ReadRule {
  const { freq, times, count, until, interval } = pattern;
  const isShort = freq === "MINUTELY" || freq === "HOURLY";
  const allowed: Readonly<Record<Frequency, boolean>> = {
    MINUTELY: plain.length + numbered.length + monthDays.length + times.length === 0,
    HOURLY: plain.length + numbered.length + monthDays.length + times.length === 0,
    DAILY: numbered.length + monthDays.length === 0 && (plain.length === 0 || interval === 1),
    WEEKLY: numbered.length + monthDays.length === 0,
    MONTHLY: plain.length === 0 && month === null && (numbered.length === 0 || monthDays.length === 0),
    YEARLY: plain.length + numbered.length === 0 && (monthDays.length === 0 || month !== null),
  };
  const isSound =
    monthDays.every((day) => day === -1 || (day >= 1 && day <= 31)) && interval > 0 && count !== 0;
  if (!allowed[freq] || !isSound || (count !== null && until !== null)) {
    return { problem: "mixed" };
  }
  return isShort
    ? pattern
    : {
        ...pattern,
        freq: freq === "DAILY" && plain.length > 0 ? "WEEKLY" : freq,
        days: plain.length > 0 ? plain : numbered,
        monthDays,
        month,
      };
}
