import { expect, test } from "vitest";
import { toCells, toMonths } from "./calendar.ts";

const counted = (date: string, count: number) => ({ date, count, total_tokens: count * 10 });

test("places every day of the period by week and weekday", () => {
  // The first of July 2026 is a Wednesday.
  const cells = toCells([], { start: "2026-07-01", end: "2026-07-07" });
  expect(cells.map(({ date, week, weekday }) => [date.slice(-2), week, weekday])).toEqual([
    ["01", 0, 2],
    ["02", 0, 3],
    ["03", 0, 4],
    ["04", 0, 5],
    ["05", 0, 6],
    ["06", 1, 0],
    ["07", 1, 1],
  ]);
});

test("grades days by the busiest one, and none without calls", () => {
  const days = [counted("2026-07-01", 100), counted("2026-07-02", 1), counted("2026-07-03", 50)];
  const levels = toCells(days, { start: "2026-07-01", end: "2026-07-04" }).map(({ level }) => level);
  expect(levels).toEqual([4, 1, 2, 0]);
});

test("finds where months begin", () => {
  const cells = toCells([], { start: "2026-06-29", end: "2026-08-02" });
  expect(toMonths(cells)).toEqual([
    { date: "2026-07-01", week: 0 },
    { date: "2026-08-01", week: 4 },
  ]);
});
