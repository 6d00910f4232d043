import { expect, test } from "vitest";
import { diffLines, foldSame } from "./line-diff.ts";

const kinds = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, before: a = "-", after: b = "-" }) => `${kind} ${a} ${b}`);

test("equal lines stand beside each other, others where they belong", () => {
  expect(kinds("a\nb\nc", "a\nx\nc")).toEqual(["same a a", "changed b x", "same c c"]);
  expect(kinds("a\nc", "a\nb\nc")).toEqual(["same a a", "added - b", "same c c"]);
  expect(kinds("a\nb\nc", "c")).toEqual(["removed a -", "removed b -", "same c c"]);
  expect(kinds("a\nb\nc\nd", "b\nx\nd\ne")).toEqual([
    "removed a -",
    "same b b",
    "changed c x",
    "same d d",
    "added - e",
  ]);
});

test("both texts can be read off the rows, whatever they are", () => {
  for (let seed = 1; seed < 60; seed += 1) {
    const make = (offset: number) =>
      Array.from({ length: (seed * offset) % 17 }, (_, index) => "abcd"[(seed * index * offset) % 4]).join(
        "\n",
      );
    const [before, after] = [make(5), make(7)];
    const rows = diffLines(before, after);
    expect(rows.flatMap((row) => row.before ?? []).join("\n")).toBe(before);
    expect(rows.flatMap((row) => row.after ?? []).join("\n")).toBe(after);
  }
});

test("what did not change is folded away", () => {
  const long = Array.from({ length: 20 }, (_, index) => `${index}`);
  const folded = foldSame(diffLines(long.join("\n"), long.with(10, "x").join("\n")), 1);
  expect(folded.map((row) => ("hidden" in row ? row.hidden : row.kind))).toEqual([
    9,
    "same",
    "changed",
    "same",
    8,
  ]);
});
