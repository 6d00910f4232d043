import { describe, expect, it } from "vitest";
import { compare, isMet, median, toTable } from "./report.ts";

const finding = { goal: "P0", what: "something", unit: "×" };

describe("a finding", () => {
  it.each([
    [{ values: [0.9, 2, 1], atMost: 1 }, true],
    [{ values: [0.9, 2, 1.1], atMost: 1 }, false],
    [{ values: [3], atLeast: 4 }, false],
    [{ values: [4, 4], atLeast: 4 }, true],
    [{ values: [] as number[], atMost: 1 }, false],
    [{ values: [Number.NaN], atLeast: 0 }, false],
    [{ values: [7] }, true],
  ])("%j is met: %s", (part, expected) => {
    expect(isMet({ ...finding, ...part })).toBe(expected);
  });
});

describe("comparison", () => {
  it("pairs the rounds and names the absolute medians", () => {
    const seen = compare({
      goal: "P0",
      what: "cpu",
      ours: [{ a: 2 }, { a: 9 }, { a: 4 }],
      theirs: [{ a: 1 }, { a: 3 }, { a: 8 }],
      figure: (each) => each.a,
      figureUnit: "µs",
      atMost: 2,
    });
    expect(seen.values).toEqual([2, 3, 0.5]);
    expect(seen.detail).toBe("4 against 3 µs");
    expect(toTable([seen])).toMatch(/P0 +cpu +≤ 2× +2× \[0\.5\.\.3\] +ok +4 against 3 µs/);
  });

  it("takes the mean of the two middle values", () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });
});
