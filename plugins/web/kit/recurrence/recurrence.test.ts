import { expect, it } from "vitest";
import german from "../locales/de.json" with { type: "json" };
import { readWords } from "./read-words.ts";
import { type Speech, toWords } from "./to-words.ts";

const fill = (text: string, values: Readonly<Record<string, string | number>> = {}) =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
const inEnglish: Speech = {
  locale: "en-US",
  t: fill,
  plural: (count, one, other) => fill(count === 1 ? one : other, { count }),
};
const messages = german as unknown as Record<string, string | { one: string; other: string }>;
const inGerman: Speech = {
  locale: "de-DE",
  t: (text, values) => fill(messages[text] as string, values),
  plural: (count, _one, other) => {
    const found = messages[other] as { one: string; other: string };
    return fill(count === 1 ? found.one : found.other, { count });
  },
};

it.each([
  ["every weekday at 9", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0"],
  ["Every weekday at 9:30 pm", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=21;BYMINUTE=30"],
  ["daily at 12 am and 12 pm", "FREQ=DAILY;BYHOUR=0,12;BYMINUTE=0"],
  ["every day at 8:15, 12:15 and 18:15", "FREQ=DAILY;BYHOUR=8,12,18;BYMINUTE=15"],
  ["every Monday and Thursday at noon", "FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=12;BYMINUTE=0"],
  ["every other Friday at 17:00", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;BYHOUR=17;BYMINUTE=0"],
  ["every 2 weeks on tue at 7", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;BYHOUR=7;BYMINUTE=0"],
  ["on the 1st and 15th of every month at 7", "FREQ=MONTHLY;BYMONTHDAY=1,15;BYHOUR=7;BYMINUTE=0"],
  ["every month on the last day at 18:00", "FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=18;BYMINUTE=0"],
  ["the last Friday of every month at 16", "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16;BYMINUTE=0"],
  ["every year on March 3 at 9", "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=3;BYHOUR=9;BYMINUTE=0"],
  ["every 15 minutes", "FREQ=MINUTELY;INTERVAL=15"],
  ["hourly", "FREQ=HOURLY"],
  ["every week", "FREQ=WEEKLY"],
  ["every day at 9, 10 times", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;COUNT=10"],
  ["every day at 9 until 31 December 2026", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20261231"],
  ["once on 2026-12-01 at 9", "DTSTART:20261201T090000\nRRULE:FREQ=DAILY;COUNT=1"],
  ["werktags um 9", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0"],
  ["jeden Montag und Donnerstag um 8:30 Uhr", "FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=8;BYMINUTE=30"],
  ["um 9 am Sonnabend", "FREQ=WEEKLY;BYDAY=SA;BYHOUR=9;BYMINUTE=0"],
  ["am 1. jedes Monats um 7 Uhr", "FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=7;BYMINUTE=0"],
  ["jedes Jahr am 3. März um 9", "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=3;BYHOUR=9;BYMINUTE=0"],
  ["alle 15 Minuten", "FREQ=MINUTELY;INTERVAL=15"],
  ["täglich um 9 bis 31.12.2026", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20261231"],
  ["einmal am 1. Dezember 2026 um 9", "DTSTART:20261201T090000\nRRULE:FREQ=DAILY;COUNT=1"],
])("reads %s, and says it again in both languages", (text, rule) => {
  expect(readWords(text)).toEqual({ rule });
  for (const speech of [inEnglish, inGerman]) {
    const words = toWords(rule, speech) as string;
    expect([words, readWords(words)]).toEqual([words, { rule }]);
  }
});

it("says a rule in words of the language", () => {
  const rule = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0";
  expect([inEnglish, inGerman].map((speech) => toWords(rule, speech)?.replaceAll("\u202F", " "))).toEqual([
    "every weekday at 9:00 AM",
    "werktags um 09:00",
  ]);
});

it.each([
  ["", "empty"],
  ["every weekday at 9 unless it rains", "unknown"],
  ["at 9", "frequency"],
  ["every day at 25", "time"],
  ["every day at 9 and 14:30", "times"],
  ["every 5 minutes on Monday", "mixed"],
  ["once at 9", "mixed"],
  ["every month on the 45th", "mixed"],
  ["every 0 days", "mixed"],
  ["until 31 June 2026 every day", "unknown"],
])("refuses “%s”", (text, problem) => {
  expect(readWords(text)).toMatchObject({ problem });
});

it.each([
  "FREQ=SECONDLY",
  "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=2",
  "FREQ=DAILY;X=1",
  "FREQ=DAILY;INTERVAL=x",
  "DTSTART:20260101T090000Z\nRRULE:FREQ=DAILY",
  "nonsense",
  "",
])("has no words for %s", (rule) => {
  expect(toWords(rule, inEnglish)).toBeUndefined();
});

it("reads long nonsense quickly", () => {
  const started = process.cpuUsage();
  readWords(`every ${"1st and ".repeat(2_000)}`);
  readWords(`at ${"9, ".repeat(5_000)}`);
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(2_000);
});
