import { expect, test } from "vitest";
import { toCsv } from "./csv.ts";
import { fillDays, listCurrencies, type Row, toCeiling, valueOf } from "./report.ts";

const row = (key: string, more: Partial<Row> = {}): Row => ({
  key,
  name: null,
  count: 2,
  failed: 0,
  input_tokens: 10,
  output_tokens: 5,
  cached_tokens: 0,
  total_tokens: 15,
  mean_ms: 1500,
  costs: [
    { currency: "EUR", amount: 1 },
    { currency: "USD", amount: 3 },
  ],
  unpriced: 0,
  ...more,
});

test("a measure picks its number", () => {
  const measures = ["tokens", "calls", "duration", "cost:USD", "cost:CHF"] as const;
  expect(measures.map((measure) => valueOf(row("a"), measure))).toEqual([15, 2, 1.5, 3, 0]);
  expect(listCurrencies([row("a"), row("b")])).toEqual(["USD", "EUR"]);
});

test("days without calls are there", () => {
  const now = Date.parse("2026-03-03T10:00:00Z") / 1000;
  const days = fillDays([row("2026-03-02")], { days: 3, now });
  expect(days.map(({ key, count }) => [key, count])).toEqual([
    ["2026-03-01", 0],
    ["2026-03-02", 2],
    ["2026-03-03", 0],
  ]);
});

test("an axis ends at a round number", () => {
  expect([0, 0.0004, 7, 20, 21, 980].map(toCeiling)).toEqual([1, 0.0005, 10, 20, 25, 1000]);
});

test("cells are quoted, and none is a formula", () => {
  expect(toCsv([["a,b", 'say "no"', null, 1.5, "=1+1", "-x"]])).toBe(`"a,b","say ""no""",,1.5,'=1+1,'-x\r\n`);
});
