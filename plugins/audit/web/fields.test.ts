import { expect, it } from "vitest";
import { toFields } from "./fields.ts";

it("pairs the fields of both sides", () => {
  expect(toFields({ role: "user", tags: ["a"] }, { role: "admin", note: 1 })).toEqual([
    { name: "role", before: "user", after: "admin" },
    { name: "tags", before: '[\n  "a"\n]', after: undefined },
    { name: "note", before: undefined, after: "1" },
  ]);
});

it("takes a missing side and plain values", () => {
  expect(toFields(null, { name: "x" })).toEqual([{ name: "name", before: undefined, after: "x" }]);
  expect(toFields("a", "b")).toEqual([{ name: "", before: "a", after: "b" }]);
  expect(toFields(null, null)).toEqual([]);
});
