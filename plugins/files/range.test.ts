import { expect, it } from "vitest";
import { parseRange } from "./range.ts";

it.each([
  [undefined, undefined],
  ["bytes=0-4", { start: 0, end: 4 }],
  ["bytes=5-", { start: 5, end: 9 }],
  ["bytes=5-100", { start: 5, end: 9 }],
  ["bytes=-3", { start: 7, end: 9 }],
  ["bytes=-100", { start: 0, end: 9 }],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=10-20", "unsatisfiable"],
  ["bytes=4-2", undefined],
  ["bytes=-", undefined],
  ["bytes=0-1,3-4", undefined],
  ["items=0-1", undefined],
  ["bytes=0x1-2", undefined],
  [`bytes=${"9".repeat(400)}-`, undefined],
])("of ten bytes, %j means %j", (header, expected) => expect(parseRange(header, 10)).toEqual(expected));

it("finds no part of an empty body", () => {
  expect(parseRange("bytes=0-", 0)).toBe("unsatisfiable");
  expect(parseRange("bytes=-1", 0)).toBe("unsatisfiable");
});
