import { describe, expect, test } from "vitest";
import { createValveSet } from "./valve-set.ts";

const valves = createValveSet(
  {
    keep: { type: "integer", default: 8, minimum: 1, description: "Messages to keep" },
    tone: { type: "string", enum: ["plain", "kind"], default: "plain" },
    key: { type: "string", input: { type: "password" } },
    hosts: { type: "array", items: { type: "string" }, default: [] },
    limit: { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
  },
  "Valves",
);

test("the form's schema keeps what the author declared", () => {
  expect(valves.schema).toMatchObject({
    title: "Valves",
    type: "object",
    properties: { key: { type: "string", input: { type: "password" } }, keep: { default: 8 } },
  });
});

test("only values that are not null are saved, defaults fill the rest", () => {
  const saved = valves.check({ keep: 3, tone: null, unknown: 1 });
  expect(saved).toEqual({ keep: 3 });
  expect(valves.complete(saved)).toEqual({ keep: 3, tone: "plain", hosts: [], limit: null });
});

describe("a value that does not fit is refused by name", () => {
  test.each<[Record<string, unknown>, RegExp]>([
    [{ keep: "three" }, /^keep: .*number/],
    [{ keep: 0 }, /^keep: .*>=1/],
    [{ keep: 1.5 }, /^keep: /],
    [{ tone: "rude" }, /^tone: .*"plain".*"kind"/],
    [{ hosts: ["a", 1] }, /^hosts\.1: .*string/],
    [{ limit: "x" }, /^limit: .*number.*or.*null/],
  ])("%j", (given, message) => {
    expect(() => valves.check(given)).toThrow(message);
  });
});

test("a saved value of an older shape gives way to the default", () => {
  expect(valves.complete({ keep: "many", tone: "kind" })).toMatchObject({ keep: 8, tone: "kind" });
});

test("a whole object schema works too, with what it requires", () => {
  const set = createValveSet(
    { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
    "UserValves",
  );
  expect(() => set.check({})).toThrow("key: a value is required");
  expect(set.check({ key: "k" })).toEqual({ key: "k" });
});

test.each<[unknown, RegExp]>([
  ["text", /must be an object/],
  [{ keep: 5 }, /Valves\.keep must be a JSON Schema/],
  [{ keep: { type: "banana" } }, /Valves\.keep is no valid JSON Schema/],
  [{ keep: { type: "integer", default: "x" } }, /Valves\.keep has a default that does not fit/],
])("a declaration like %j is refused", (declared, message) => {
  expect(() => createValveSet(declared, "Valves")).toThrow(message);
});

test("a pattern that takes for ever is broken off, and others are not", () => {
  const set = createValveSet(
    {
      tag: { type: "string", pattern: "^(a+)+$" },
      list: { type: "array", items: { type: "string", pattern: "^x" } },
    },
    "UserValves",
  );
  const began = performance.now();
  expect(() => set.check({ tag: `${"a".repeat(40)}b` })).toThrow(/^tag: .*too long/);
  expect(set.complete({ tag: `${"a".repeat(40)}b` })).toEqual({});
  expect(performance.now() - began).toBeLessThan(1_000);
  expect(set.check({ tag: "aaa", list: ["x1"] })).toEqual({ tag: "aaa", list: ["x1"] });
  expect(() => set.check({ list: ["y"] })).toThrow(/^list\.0: /);
});

test.each([
  [{ a: { type: "string", pattern: "^(a+)+$", default: `${"a".repeat(40)}b` } }, /a has a default/],
  [{ a: { type: "string", pattern: "a".repeat(2_000) } }, /at most 1000 characters/],
  [{ a: { type: "string", description: "x".repeat(70_000) } }, /at most 65536 characters/],
])("a declaration that would hold the server up is refused", (declared, message) => {
  expect(() => createValveSet(declared, "Valves")).toThrow(message);
});
