import { expect, it } from "vitest";
import { jsonOf, withJson } from "./known-json.ts";

it("knows the text that an object was read from, and of nothing else", () => {
  const value = withJson({ a: 1 }, '{ "a": 1 }');
  expect(jsonOf(value)).toBe('{ "a": 1 }');
  expect([{ ...value }, undefined, null, "a", 1].map(jsonOf)).toEqual(Array(5).fill(undefined));
});

it.each(["{\n}", "\uFEFF{}"])("keeps no text that others would read differently: %j", (text) => {
  expect(jsonOf(withJson({}, text))).toBeUndefined();
});
