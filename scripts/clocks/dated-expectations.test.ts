import { expect, test } from "vitest";
import { findIn } from "./dated-expectations.ts";

const lines = (text: string) => findIn("x.test.ts", text).map((line) => line.split(";")[0]);

test.each([
  ["expect(sent - Date.now()).toBeLessThan(5);", "Date.now()"],
  ["expect(row.day).toBe(new Date().toISOString());", "new Date()"],
  ["expect(row.day).toBe(new Date);", "new Date"],
  ["expect(row.day).toBe(Date());", "Date()"],
  ['expect(row.at).toBe(Date["now"]());', 'Date["now"]()'],
  ["expect(row.at).toBe(globalThis.Date.now());", "globalThis.Date.now()"],
  ["expect(row.at).toBe(Temporal.Now.instant());", "Temporal.Now"],
  ["expect(row.at).toBe(performance.timeOrigin + performance.now());", "performance.timeOrigin"],
  ["assert.equal(row.at, Date.now());", "Date.now()"],
])("refuses %j", (text, named) => {
  expect(lines(text)).toEqual([`x.test.ts:1 expects ${named}`]);
});

test.each([
  ["const today = new Date().getDay();\nexpect(row.day).toBe(today);", "today"],
  ["const today = new Date();\nexpect(row.day).toBe(today.getDay());", "today"],
  ["const now = () => Date.now() / 1000;\nawait expect.poll(read).toBeLessThan(now());", "now"],
  ["function now() { return Date.now(); }\nexpect(row.at).toBe(now());", "now"],
  ["const { now } = Date;\nexpect(row.at).toBe(now());", "now"],
  ["const Clock = Date;\nexpect(row.at).toBe(Clock.now());", "Clock"],
  ["let now;\nnow = Date.now();\nexpect(row.at).toBe(now);", "now"],
  ["const [now] = [Date.now()];\nexpect(row.at).toBe(now);", "now"],
  ["const now = Date.now();\nvoid now;\nexpect(row.at).toBe(now);", "now"],
  ["const now = Date.now();\nconst today = toDay(now);\nexpect(row.day).toBe(today);", "today"],
  ["const clock = { now: () => Date.now() };\nexpect(row.at).toBe(clock.now());", "clock"],
  ['import { seconds } from "#storage/clock.ts";\nexpect(row.at).toBe(seconds());', "seconds"],
  // The same name is an input elsewhere.
  ["{ const now = 5; store(now); }\n{ const now = Date.now();\nexpect(row.at).toBe(now); }", "now"],
])("refuses the name in %j", (text, named) => {
  expect(lines(text)).toEqual([`x.test.ts:${text.split("\n").length} expects ${named}`]);
});

test("refuses what another file of tests returns", () => {
  const text = 'import { today } from "#test/support/days.ts";\nexpect(row.day).toBe(today());';
  expect(findIn("x.test.ts", text, new Set(["days.ts:today"]))).toHaveLength(1);
});

test.each([
  "expect(isJustNow(row.at)).toBe(true);",
  "expect(new Date(row.at).getTime()).toBe(5);",
  "const now = Date.now();\nstore(now);\nexpect(row.at).toBe(now);",
  "const row = await store({ at: Date.now() });\nexpect(row.id).toBe(5);",
  "const filled = fill(template, { now: new Date() });\nexpect(filled).toBe(5);",
  "const begun = performance.now();\nexpect(performance.now() - begun).toBeLessThan(5);",
])("lets %j pass", (text) => {
  expect(lines(text)).toEqual([]);
});
