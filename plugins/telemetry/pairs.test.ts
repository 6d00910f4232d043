import { expect, it } from "vitest";
import { checkPairs, toPairs } from "./pairs.ts";

it.each([
  ["", undefined],
  ["x-tenant=mill%20race, authorization=Basic%20YQ==", undefined],
  ["x-tenant", "must be name=value pairs separated by commas"],
  ["=secret", "must be name=value pairs separated by commas"],
  ["x-tenant=100%", "has a value that is not percent-encoded"],
])("pairs %j are checked at the start", (text, problem) => {
  expect(checkPairs(text)).toBe(problem);
});

it("a value may hold signs of equality", () => {
  expect(toPairs("a=b%20c, authorization=Basic YQ==")).toEqual({ a: "b c", authorization: "Basic YQ==" });
});
