import { expect, test } from "vitest";
import { asObject, isObject, parseOrUndefined, toList, toObject } from "./json-values.ts";

test.each([
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  ["{}", false],
  [undefined, false],
])("%j is an object: %s", (value, expected) => {
  expect(isObject(value)).toBe(expected);
  expect(toObject(value)).toEqual(expected ? value : {});
  expect(asObject(value)).toEqual(expected ? value : undefined);
});

test("anything but a list is an empty list", () => {
  expect(toList([1])).toEqual([1]);
  expect(toList({ 0: 1, length: 1 })).toEqual([]);
});

test("a text that is no JSON is undefined", () => {
  expect(parseOrUndefined('{"a":1}')).toEqual({ a: 1 });
  expect(parseOrUndefined("{")).toBeUndefined();
});
