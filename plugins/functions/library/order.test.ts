import { expect, test } from "vitest";
import { toPriorities } from "./order.ts";

const place = (...priorities: number[]) =>
  priorities.map((priority, index) => ({ id: `f${index}`, priority }));
const ordered = (...priorities: number[]) =>
  toPriorities(place(...priorities)).map(({ priority }) => priority);

test("what is in order stays as it is", () => {
  expect(ordered(-100, 0, 3, 10)).toEqual([-100, 0, 3, 10]);
  expect(ordered()).toEqual([]);
});

test("one that was moved goes between its neighbours, and no other changes", () => {
  expect(ordered(10, -100, 0, 3)).toEqual([-101, -100, 0, 3]);
  expect(ordered(0, 3, 10, -100)).toEqual([0, 3, 10, 11]);
  expect(ordered(0, 10, 3, 4)).toEqual([0, 1, 3, 4]);
  expect(ordered(0, 9, 1, 5)).toEqual([0, 0.5, 1, 5]);
});

test("equal priorities are told apart", () => {
  const result = ordered(0, 0, 0, 5);
  expect(result).toEqual(result.toSorted((a, b) => a - b));
  expect(new Set(result).size).toBe(4);
});
