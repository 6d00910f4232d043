import { expect, it } from "vitest";
import { toLanes } from "./lanes.ts";

it("puts overlapping spans side by side, and gives others the whole width", () => {
  const spans = [
    { id: "a", from: 540, to: 660 },
    { id: "b", from: 600, to: 630 },
    { id: "c", from: 630, to: 700 },
    { id: "d", from: 700, to: 760 },
  ];
  expect(toLanes(spans).map(({ span: { id }, lane, lanes }) => [id, lane, lanes])).toEqual([
    ["a", 0, 2],
    ["b", 1, 2],
    ["c", 1, 2],
    ["d", 0, 1],
  ]);
  expect(toLanes([])).toEqual([]);
});
