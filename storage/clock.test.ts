import { expect, test } from "vitest";
import { nanoseconds, seconds } from "./clock.ts";

test("nanoseconds only ever grow", () => {
  const values = Array.from({ length: 10_000 }, nanoseconds);
  expect(values.every((value, index) => index === 0 || value > values[index - 1]!)).toBe(true);
});

test("both clocks tell the time of the system", () => {
  const now = Date.now();
  expect(Math.abs(seconds() - now / 1000)).toBeLessThan(2);
  expect(Math.abs(Number(nanoseconds() / 1_000_000n) - now)).toBeLessThan(2_000);
});
