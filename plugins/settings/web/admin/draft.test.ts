import { describe, expect, it } from "vitest";
import { readRaw, toControl, toRaw } from "./draft.ts";
import { findJsonMistake } from "./json-mistake.ts";
import { toLabel } from "#plugins/web/kit/setting-label.ts";
import type { Setting } from "./setting.ts";

const setting = (facts: Partial<Setting>) =>
  ({
    name: "X",
    kind: "text",
    value: "",
    default: "",
    secret: false,
    min: null,
    max: null,
    ...facts,
  }) as Setting;

describe("controls", () => {
  it("fit the declaration", () => {
    const controls = ["bool", "int", "oneOf", "list", "json", "duration"] as const;
    expect(controls.map((kind) => toControl(setting({ kind })))).toEqual([
      "switch",
      "number",
      "choice",
      "list",
      "json",
      "line",
    ]);
    expect(toControl(setting({ name: "TITLE_PROMPT_TEMPLATE" }))).toBe("lines");
    expect(toControl(setting({ default: "two\nlines" }))).toBe("lines");
  });

  it("show values, and of secrets nothing", () => {
    expect(toRaw(setting({ kind: "list", value: ["a", "b"] }))).toBe("a\nb");
    expect(toRaw(setting({ kind: "int", value: null }))).toBe("");
    expect(toRaw(setting({ secret: true, value: "********" }))).toBe("");
  });

  it("are read back as values", () => {
    expect(readRaw(setting({ kind: "list" }), " a \n\n b")).toEqual({ value: ["a", "b"] });
    expect(readRaw(setting({ kind: "int" }), "12")).toEqual({ value: 12 });
    expect(readRaw(setting({ default: null }), "")).toEqual({ value: null });
    expect(readRaw(setting({ kind: "json" }), '{"a": [1]}')).toEqual({ value: { a: [1] } });
  });

  it("name what is wrong", () => {
    expect(readRaw(setting({ kind: "int" }), "1.5")).toEqual({ problem: "whole" });
    expect(readRaw(setting({ kind: "number", min: 0, max: 2 }), "3")).toEqual({ problem: "bounds" });
    expect(readRaw(setting({ kind: "json" }), '[\n  {"id": }\n]')).toEqual({ problem: "2:10" });
  });
});

describe("findJsonMistake", () => {
  it.each(["1", '"\\u00e9"', " [ ] ", "{}", '{"a": [true, null, -1.5e3, {"b": ""}]}'])(
    "finds none in %s",
    (text) => {
      expect(findJsonMistake(text)).toBeUndefined();
    },
  );

  it.each([
    ["", 0],
    ["[1,]", 3],
    ["[1 2]", 3],
    ['{"a" 1}', 5],
    ["{a: 1}", 1],
    ["[1] x", 4],
    ['{"a": "b', 6],
    ["01", 1],
  ])("finds that of %s at %i", (text, index) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(findJsonMistake(text)).toBe(index);
  });
});

it("makes labels of variables", () => {
  expect(["ENABLE_API_KEYS", "JWT_EXPIRES_IN", "OPENAI_API_BASE_URLS"].map(toLabel)).toEqual([
    "Enable API keys",
    "JWT expires in",
    "OpenAI API base URLs",
  ]);
});
