import { expect, it } from "vitest";
import { FrameLog } from "./frame-log.ts";

const numbers = (log: FrameLog, after: number) => log.takeAfter(after).map(({ number }) => number);

it("hands frames out until their reader has them", () => {
  const log = new FrameLog();
  ["a", "b", "c"].forEach((text) => log.add(text));
  expect(numbers(log, 0)).toEqual([1, 2, 3]);
  expect(numbers(log, 1)).toEqual([2, 3]);
  expect(log.has(0)).toBe(true);
  log.confirm(1);
  expect(log.has(1)).toBe(true);
  expect(log.has(0)).toBe(false);
  expect(log.has(4)).toBe(false);
  expect(numbers(log, 3)).toEqual([]);
  expect(log.has(3)).toBe(true);
});

it("counts what no answer has taken, and keeps a bounded part of what one has", () => {
  const log = new FrameLog();
  const large = "x".repeat(600_000);
  log.add(large);
  log.add(large);
  expect(log.unsentBytes).toBe(1_200_000);
  expect(numbers(log, 0)).toEqual([1, 2]);
  expect(log.unsentBytes).toBe(0);
  log.add("next");
  expect(log.unsentBytes).toBe(4);
  // The oldest went, so its reader has to begin anew.
  expect(log.has(0)).toBe(false);
  expect(numbers(log, 1)).toEqual([2, 3]);
});
