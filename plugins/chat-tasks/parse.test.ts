import { describe, expect, it } from "vitest";
import * as parse from "./parse.ts";

const huge = "{".repeat(2_000_000);

describe("a title", () => {
  it.each([
    ['{"title": "The moon"}', "The moon"],
    ['Sure!\n```json\n{"title": "🌙 The moon"}\n```\nAnything else?', "🌙 The moon"],
    ['<think>{"title": "first"} or {x}?</think>{"title": "second"}', "second"],
    ['{"title": "a {b} c", "why": {"x": 1}}', "a {b} c"],
    ['thinking {of braces}\n{"title": "x", "why": {"y": 1}}', "x"],
    ['{"title": "  two\\n lines\\t\\u0000\\u0007\\u202e"}', "two lines"],
    ['{"title": "<img src=x onerror=alert(1)>"}', "<img src=x onerror=alert(1)>"],
    [String.raw`{"title": "half \ud83d"}`, "half \ufffd"],
    ['{"title": 7}', undefined],
    ['{"title": null}', undefined],
    ['{"title": "   "}', undefined],
    ['{"title": ["x"]}', undefined],
    ['{"name": "x"}', undefined],
    ['["title"]', undefined],
    ['{"title": "x"', undefined],
    ["}{", undefined],
    ["The moon", undefined],
    ["", undefined],
    [huge, undefined],
    [`${huge}}`, undefined],
    [`${huge}{"title": "x"}`, "x"],
    ['{"__proto__": {"title": "x"}}', undefined],
  ])("%#: of what a model said", (answer, expected) => {
    expect(parse.parseTitle(answer)).toBe(expected);
  });

  it("is cut, and says so", () => {
    const title = parse.parseTitle(JSON.stringify({ title: "🌙".repeat(500) })) ?? "";
    expect([...title].length).toBe(100);
    expect(title.endsWith("🌙…")).toBe(true);
    expect(parse.toTitle(`  ${"word ".repeat(1_000_000)}`)).toMatch(/^(word ){19}word…$/);
  });
});

describe("tags", () => {
  it.each([
    ['{"tags": ["Science", "Physics"]}', ["Science", "Physics"]],
    ['{"tags": ["science", " Science ", "", 7, null, "none", "None"]}', ["science"]],
    [`{"tags": ["${"x".repeat(51)}", "ok"]}`, ["ok"]],
    ['{"tags": "Science"}', []],
    ['{"tags": {"a": "b"}}', []],
    ["no", []],
  ])("%#: of what a model said", (answer, expected) => {
    expect(parse.parseTags(answer)).toEqual(expected);
  });

  it("are at most ten", () => {
    const tags = Array.from({ length: 5000 }, (_, n) => `t${n}`);
    expect(parse.parseTags(JSON.stringify({ tags }))).toHaveLength(10);
  });
});

describe("suggestions", () => {
  const of = (follow_ups: unknown) => parse.parseFollowUps(JSON.stringify({ follow_ups }));
  const long = (length: number) => "é".repeat(length);

  it.each([
    [
      ["a?", "b?"],
      ["a?", "b?"],
    ],
    [
      ["a?", "b?", "a?", "A? ", "c?"],
      ["a?", "b?", "c?"],
    ],
    [
      ["1", "2", "3", "4", "5", "6", "7"],
      ["1", "2", "3", "4", "5"],
    ],
    [
      ["1", "1", "2", "3", long(401), "4", "5", "6"],
      ["1", "2", "3", "4", "5"],
    ],
    [[long(400)], [long(400)]],
    [["😀".repeat(400)], ["😀".repeat(400)]],
    [[long(401), long(5000)], []],
    [["  a\n b? "], ["a b?"]],
    [[{ text: "a" }, 1, null, ["b"]], []],
    ["a?", []],
    [undefined, []],
  ])("%#: of what a model said", (given, expected) => {
    expect(of(given)).toEqual(expected);
  });
});

describe("queries", () => {
  it.each([
    ['{"queries": ["moon distance", "moon distance", "lunar orbit"]}', ["moon distance", "lunar orbit"]],
    ['{"queries": []}', []],
    ['{"queries": [1]}', []],
    ['{"queries": "moon"}', undefined],
    ["I would search for the moon.", undefined],
  ])("of %j are %j", (answer, expected) => {
    expect(parse.parseQueries(answer)).toEqual(expected);
  });
});

it.each([
  ['{"prompt": " A moon.\\n\\nAt night. "}', "A moon.\n\nAt night."],
  ['{"prompt": ""}', undefined],
  ["A moon", undefined],
])("the description of %j is %j", (answer, expected) => {
  expect(parse.parsePrompt(answer)).toBe(expected);
});

it.each([
  ['{"text": " of the night\\u0000"}', " of the night"],
  ['{"text": false}', ""],
  ["of the night", ""],
])("the continuation of %j is %j", (answer, expected) => {
  expect(parse.parseCompletion(answer)).toBe(expected);
});

it.each([
  ["🌙", "🌙"],
  ['"👩🏽‍🚀" fits.', "👩🏽‍🚀"],
  ["It is 🇫🇷, or 🌙.", "🇫🇷"],
  ["1 # *", ""],
  ["moon", ""],
  ["", ""],
])("the emoji of %j is %j", (answer, expected) => {
  expect(parse.parseEmoji(answer)).toBe(expected);
});
