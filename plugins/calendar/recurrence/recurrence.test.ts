import { createRequire } from "node:module";
import type * as Rrule from "rrule";
import { Temporal } from "temporal-polyfill";
import { expect, it } from "vitest";
import { expand, lastStart } from "./expand.ts";
import { parseRule } from "./rule.ts";

const { RRule } = createRequire(import.meta.url)("rrule") as typeof Rrule;
const zones =
  "Europe/Berlin America/New_York America/Sao_Paulo Asia/Kolkata Asia/Kathmandu Asia/Tokyo Australia/Lord_Howe Australia/Sydney Africa/Cairo Pacific/Auckland America/St_Johns UTC".split(
    " ",
  );
const days = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/** Numbers that look random and are the same in every run (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function createRule(random: (below: number) => number): string {
  const freq = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"][random(4)] as string;
  const some = <T>(from: readonly T[], most: number) =>
    Array.from({ length: 1 + random(most) }, () => from[random(from.length)] as T);
  const parts = [`FREQ=${freq}`];
  if (random(2) === 0) {
    parts.push(`INTERVAL=${1 + random(4)}`);
  }
  if (random(3) === 0) {
    parts.push(`COUNT=${1 + random(30)}`);
  }
  if (random(2) === 0) {
    const ordinals = freq === "MONTHLY" && random(2) === 0 ? ["1", "2", "-1"] : [""];
    parts.push(
      `BYDAY=${[...new Set(some(days, 3))].map((day) => (ordinals[random(ordinals.length)] ?? "") + day).join(",")}`,
    );
  } else if (freq === "MONTHLY") {
    parts.push(`BYMONTHDAY=${[...new Set(some([1, 5, 15, 28, 30, 31, -1], 3))].join(",")}`);
  }
  if (freq === "YEARLY" || random(6) === 0) {
    parts.push(`BYMONTH=${[...new Set(some([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 3))].join(",")}`);
  }
  if (random(4) === 0) {
    parts.push(`WKST=${days[random(7)]}`);
  }
  return parts.join(";");
}

/** The second library counts on a clock without zones; the clock of the zone is laid over its answers. */
function expected(
  text: string,
  local: Temporal.PlainDateTime,
  zone: string,
  years: [number, number],
): number[] {
  const naive = local.toZonedDateTime("UTC").epochMilliseconds;
  const options = { ...RRule.parseString(text), dtstart: new Date(naive) };
  const found = new RRule(options).between(
    new Date(Date.UTC(years[0], 0, 1)),
    new Date(Date.UTC(years[1], 0, 1)),
    true,
  );
  return found.flatMap((date) => {
    const plain = Temporal.Instant.fromEpochMilliseconds(date.getTime())
      .toZonedDateTimeISO("UTC")
      .toPlainDateTime();
    const zoned = plain.toZonedDateTime(zone);
    // A time of day that a change of clocks leaves out is no occurrence (RFC 5545, 3.3.10).
    return zoned.toPlainDateTime().equals(plain) ? [zoned.epochMilliseconds] : [];
  });
}

/** 2,000 rules take half a minute; they agreed when the seed was chosen. */
const rules = 240;

it("agrees with a second library on random rules in 12 zones", () => {
  const random = createRandom(28);
  let occurrences = 0;
  for (let turn = 0; turn < rules; turn += 1) {
    const zone = zones[turn % zones.length] as string;
    const text = createRule(random);
    // From 04:00 on: no zone changes its clocks there.
    const local = Temporal.PlainDateTime.from({
      year: 2015 + random(10),
      month: 1 + random(12),
      day: 1 + random(28),
      hour: 4 + random(19),
      minute: random(4) * 15,
    });
    const start = local.toZonedDateTime(zone).epochMilliseconds;
    const year = 2015 + random(14);
    const plain = { start, rule: text, zone };
    const last = lastStart(plain);
    const [from, to] = [Date.UTC(year, 0, 3), Date.UTC(year + 1, 0, 3)];
    const own = last === undefined ? [] : expand({ ...plain, last }, { from, to, max: 1_000 });
    const theirs = expected(text, local, zone, [year, year + 2]).filter((at) => at >= from && at < to);
    expect({ text, zone, start: local.toString(), found: own }).toEqual({
      text,
      zone,
      start: local.toString(),
      found: theirs,
    });
    occurrences += own.length;
  }
  expect(occurrences).toBeGreaterThan(10 * rules);
});

it.each([
  "FREQ=SECONDLY",
  "FREQ=MINUTELY",
  "FREQ=HOURLY",
  "",
  "FREQ=DAILY;COUNT=0",
  "FREQ=DAILY;COUNT=2;UNTIL=20260101",
  "FREQ=DAILY;FREQ=DAILY",
  "FREQ=DAILY;X=1",
  "FREQ=DAILY;UNTIL=20260230",
  "FREQ=WEEKLY;BYDAY=2MO",
  "FREQ=WEEKLY;BYMONTHDAY=1",
  `FREQ=DAILY;BYHOUR=${Array.from({ length: 24 }, (_, at) => at).join(",")}`,
  "FREQ=DAILY;INTERVAL=1e3",
  "FREQ=MONTHLY;BYSETPOS=1",
])("refuses %s", (text) => {
  expect(() => parseRule(text)).toThrow(/^rrule: /);
});
