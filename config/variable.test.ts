import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createRegistry } from "./registry.ts";
import {
  bool,
  boolOrText,
  duration,
  int,
  json,
  list,
  longestSeconds,
  number,
  oneOf,
  seconds,
  text,
} from "./variable.ts";
import type { Duration, Values, Variable } from "./variable.ts";

const facts = { text: "A variable" };
const banner = z.object({ id: z.string(), type: z.enum(["info", "error"]) });

const variables = {
  enabled: bool("A_BOOL", true, facts),
  count: int("AN_INT", 3, facts),
  cap: int("A_CAP", null, facts),
  substitute: int("A_SUBSTITUTE", 3, { ...facts, whenInvalid: null }),
  ratio: number("A_RATIO", 0.5, facts),
  title: text("A_TITLE", "", facts),
  email: text("AN_EMAIL", null, facts),
  models: list("A_LIST", [], facts),
  banners: json("BANNERS", [], { ...facts, schema: z.array(banner) }),
  suggestions: json("SUGGESTIONS", null, { ...facts, schema: z.array(z.string()).nullable() }),
  expiry: duration("EXPIRY", "1h", facts),
  mode: oneOf("MODE", ["thread", "channel"], "thread", facts),
  ssl: boolOrText("SSL", true, facts),
};

test("values have the types of their declarations", () => {
  expectTypeOf<Values<typeof variables>>().toEqualTypeOf<{
    readonly enabled: boolean;
    readonly count: number;
    readonly cap: number | null;
    readonly substitute: number | null;
    readonly ratio: number;
    readonly title: string;
    readonly email: string | null;
    readonly models: string[];
    readonly banners: { id: string; type: "info" | "error" }[];
    readonly suggestions: string[] | null;
    readonly expiry: Duration;
    readonly mode: "thread" | "channel";
    readonly ssl: boolean | string;
  }>();
  expectTypeOf(variables.mode).toEqualTypeOf<Variable<"thread" | "channel">>();
  expectTypeOf(createRegistry({}).declare("a", variables)).toEqualTypeOf<Values<typeof variables>>();
  // @ts-expect-error a default outside the choice
  oneOf("MODE", ["thread", "channel"], "room", facts);
  // @ts-expect-error a substitute of another type
  bool("A_BOOL", true, { ...facts, whenInvalid: "yes" });
  // @ts-expect-error a value is changed through the registry only
  expect(() => (createRegistry({}).declare("a", variables).count = 4)).toThrow(TypeError);
});

describe("a JSON value", () => {
  test.each<[string, Variable<unknown>, unknown, unknown]>([
    ["bool", variables.enabled, false, false],
    ["bool as text", variables.enabled, "False", false],
    ["int", variables.count, 5, 5],
    ["int as text", variables.count, "5", 5],
    ["emptied number field", variables.cap, "", null],
    ["null where nothing is possible", variables.cap, null, null],
    ["text is never translated", variables.title, "true", "true"],
    ["list", variables.models, ["a", "b"], ["a", "b"]],
    ["list as text", variables.models, "a, b", ["a", "b"]],
    ["json", variables.banners, [{ id: "1", type: "info" }], [{ id: "1", type: "info" }]],
    ["choice", variables.mode, "CHANNEL", "channel"],
    ["switch or path", variables.ssl, "/etc/ca.pem", "/etc/ca.pem"],
    ["switch or path as text", variables.ssl, "false", false],
    ["duration", variables.expiry, "2m", { text: "2m", ms: 120_000 }],
    ["never, as a number", variables.expiry, -1, { text: "-1", ms: null }],
  ])("is taken: %s", (_case, variable, given, value) => {
    expect(variable.fromJson(given)).toEqual({ value });
  });

  test.each<[string, Variable<unknown>, unknown, RegExp]>([
    ["bool", variables.enabled, 1, /must be true or false/],
    ["bool", variables.enabled, "", /must be true or false/],
    ["int", variables.count, 1.5, /must be a whole number/],
    ["int", variables.count, null, /must be a whole number/],
    ["int", variables.count, "", /must be a whole number/],
    ["text", variables.title, null, /must be a text/],
    ["list", variables.models, { a: 1 }, /must be a list of texts/],
    ["list", variables.models, ["a", 1], /must hold texts only \(at 1\)/],
    ["json", variables.banners, [{ id: "1", type: "loud" }], /does not fit.*\(at 0\.type\)/],
    ["json", variables.banners, "[]", /does not fit/],
    ["choice", variables.mode, "room", /must be one of thread, channel/],
    ["choice", variables.mode, 1, /must be one of thread, channel/],
    ["duration", variables.expiry, "soon", /must be a duration such as/],
    ["duration", variables.expiry, true, /must be a duration/],
  ])("is refused: %s %#", (_case, variable, given, problem) => {
    expect(variable.fromJson(given).problem).toMatch(problem);
  });

  test("comes back from what is stored", () => {
    const stored = variables.expiry.toJson({ text: "2m", ms: 120_000 });
    expect(stored).toBe("2m");
    expect(variables.expiry.fromJson(stored)).toEqual({ value: { text: "2m", ms: 120_000 } });
  });
});

test("limits count for text and JSON alike", () => {
  const port = int("PORT", 80, { ...facts, min: 1, max: 65_535 });
  expect(port.fromText("0").problem).toBe("must be at least 1");
  expect(port.fromJson(70_000).problem).toBe("must be at most 65535");
  expect(port.fromText("443")).toEqual({ value: 443 });
});

test("seconds are never more than a timer can wait", () => {
  const limit = seconds("LIMIT", null, { ...facts, min: 1 });
  expect(limit.fromText("9999999")).toEqual({ value: longestSeconds });
  expect(limit.fromJson(30)).toEqual({ value: 30 });
  expect(limit.fromJson(null)).toEqual({ value: null });
  expect(limit.fromText("0").problem).toBe("must be at least 1");
  expect(longestSeconds * 1000).toBeLessThan(2 ** 31);
});

test("an own rule is asked after the type", () => {
  const even = int("EVEN", 2, { ...facts, check: (value) => (value % 2 ? "must be even" : undefined) });
  expect(even.fromText("3").problem).toBe("must be even");
  expect(even.fromJson("x").problem).toBe("must be a whole number");
  expect(even.fromJson(4)).toEqual({ value: 4 });
});

test("the schema's input is the JSON form", () => {
  expect(z.toJSONSchema(variables.expiry.schema, { io: "input" })).toMatchObject({
    type: ["string", "number"],
  });
  expect(z.toJSONSchema(variables.mode.schema)).toMatchObject({ enum: ["thread", "channel"] });
});

test("mistakes in a declaration are told at once", () => {
  expect(() => bool("X", true, { ...facts, persisted: true })).toThrow("X is persisted and needs a key.");
  expect(() => duration("X", "soon", facts)).toThrow(/The default of X must be a duration/);
});
