import { describe, expect, test } from "vitest";
import {
  checkOrigins,
  parseBool,
  parseChoice,
  parseDuration,
  parseInteger,
  parseJson,
  parseList,
  parseNumber,
} from "./parse.ts";

describe("truth values", () => {
  test.each(["True", "true", "TRUE", "1", "yes", "Y", "on", "t", " true "])("%j is true", (text) => {
    expect(parseBool(text)).toEqual({ value: true });
  });
  test.each(["False", "false", "0", "no", "N", "off", "f"])("%j is false", (text) => {
    expect(parseBool(text)).toEqual({ value: false });
  });
  test.each(["", "2", "ja", "truee"])("%j is neither", (text) => {
    expect(parseBool(text).problem).toBe("must be true or false");
  });
});

describe("numbers", () => {
  test.each([
    ["8080", 8080],
    ["-1", -1],
    ["+5", 5],
    [" 7 ", 7],
    ["007", 7],
  ])("%j is the whole number %d", (text, value) => {
    expect(parseInteger(text)).toEqual({ value });
  });
  test.each(["", "1.5", "1e3", "0x10", "ten", "5s", "9007199254740993"])("%j is no whole number", (text) => {
    expect(parseInteger(text).problem).toBe("must be a whole number");
  });
  test.each([
    ["0.5", 0.5],
    ["-2", -2],
    ["1e3", 1000],
  ])("%j is the number %d", (text, value) => {
    expect(parseNumber(text)).toEqual({ value });
  });
  test.each(["", " ", "NaN", "Infinity", "0x10", "1,5"])("%j is no number", (text) => {
    expect(parseNumber(text).problem).toBe("must be a number");
  });
});

describe("lists", () => {
  test.each([
    ["a,b", ["a", "b"]],
    [" a , b ,", ["a", "b"]],
    [",,", []],
    ["", []],
    ["a;b", ["a;b"]],
  ])("%j with commas", (text, value) => {
    expect(parseList(text, ",")).toEqual({ value });
  });
  test.each([
    ["a;b", ["a", "b"]],
    [";b", ["", "b"]],
    ["a;;c;", ["a", "", "c"]],
    [";", []],
    ["a,b", ["a,b"]],
  ])("%j with semicolons keeps empty places before an entry", (text, value) => {
    expect(parseList(text, ";")).toEqual({ value });
  });
});

describe("durations", () => {
  test.each([
    ["1h", 3_600_000],
    ["1h30m", 5_400_000],
    ["1h 30m", 5_400_000],
    ["4w", 2_419_200_000],
    ["1d", 86_400_000],
    ["500ms", 500],
    ["1.5s", 1500],
    ["10M", 600_000],
    ["1m500ms", 60_500],
    ["-1", null],
    ["0", null],
  ])("%j lasts %j ms", (text, ms) => {
    expect(parseDuration(text).value?.ms).toBe(ms);
  });
  test.each(["", "3600", "1y", "h", "-2h", "1h-30m", "1h foo", "0s", "999999999999w"])(
    "%j is refused",
    (text) => {
      expect(parseDuration(text).problem).toMatch(/^must be a duration/);
    },
  );
  test("keeps the text", () => {
    expect(parseDuration(" 1h30m ").value?.text).toBe("1h30m");
  });
});

test("a wrong JSON text is not quoted", () => {
  expect(parseJson('{"a":1}')).toEqual({ value: { a: 1 } });
  expect(parseJson("hunter2")).toEqual({ problem: "must be valid JSON" });
});

test("a choice is found whatever the case", () => {
  expect(parseChoice("info", ["INFO", "ERROR"])).toEqual({ value: "INFO" });
  expect(parseChoice("", ["", "json"])).toEqual({ value: "" });
  expect(parseChoice("xml", ["", "json"])).toEqual({ problem: "must be one of (empty), json" });
});

test.each([
  ["http://10.0.0.5:8000", true],
  ["https://host.internal", true],
  ["https://host.internal:443/", true],
  ["http://[fd00::1]:9000", true],
  ["10.0.0.5:8000", false],
  ["host.internal", false],
  ["localhost:8000", false],
  ["ftp://host", false],
  ["http://host/path", false],
  ["http://user@host", false],
])("%j is an origin: %j", (entry, good) => {
  expect(checkOrigins(["http://a", entry]) === undefined).toBe(good);
});
