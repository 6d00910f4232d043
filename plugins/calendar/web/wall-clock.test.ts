import { afterAll, beforeAll, expect, test } from "vitest";
import { atMinutes, minutesOfDay, nextHourOn, spanOnDay } from "./wall-clock.ts";

const zone = process.env["TZ"];
beforeAll(() => {
  process.env["TZ"] = "Europe/Berlin";
});
afterAll(() => {
  delete process.env["TZ"];
  Object.assign(process.env, zone !== undefined && { TZ: zone });
});

const changes = [
  ["that has 23 hours", [2027, 2, 28]],
  ["that has 25 hours", [2027, 9, 31]],
  ["like others", [2027, 4, 10]],
] as const;

test.each(changes)("an event of a day %s stands where the clock shows it", (_, [year, month, date]) => {
  const day = new Date(year, month, date);
  const at = (hour: number) => new Date(year, month, date, hour);
  expect(atMinutes(day, 9 * 60)).toEqual(at(9));
  expect(minutesOfDay(at(9))).toBe(540);
  expect(spanOnDay(day, { start: at(9), end: at(11) }, 30)).toEqual({ from: 540, to: 660 });
  expect(spanOnDay(day, { start: at(23), end: at(24) }, 30)).toEqual({ from: 1380, to: 1440 });
  expect(spanOnDay(day, { start: at(-5), end: at(1) }, 30)).toEqual({ from: 0, to: 60 });
  expect(spanOnDay(day, { start: at(12), end: undefined }, 30)).toEqual({ from: 720, to: 750 });
});

test("a new event begins on the day that was pressed, also in the hour before midnight", () => {
  const late = new Date(2027, 4, 10, 23, 58);
  expect(nextHourOn(new Date(2027, 4, 12), late)).toEqual(new Date(2027, 4, 12, 23));
  expect(nextHourOn(new Date(2027, 4, 10), late)).toEqual(new Date(2027, 4, 11));
  expect(nextHourOn(new Date(2027, 4, 12), new Date(2027, 4, 10, 9, 30))).toEqual(new Date(2027, 4, 12, 10));
});
