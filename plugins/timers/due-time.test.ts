import { describe, expect, it, test } from "vitest";
import { readDueTime, toIso } from "./due-time.ts";

const now = Date.parse("2031-05-06T05:00:00.400Z");
const inSeconds = (text: unknown) => readDueTime(text, now) - Math.ceil(now / 1_000);

describe("an offset", () => {
  test.each([
    ["90s", 90],
    ["10m", 600],
    ["+1h30m", 5_400],
    ["1.5h", 5_400],
    ["in 2 hours and 5 minutes", 7_500],
    ["1 day, 2 hours", 93_600],
    ["PT90S", 90],
    ["4w", 2_419_200],
    ["1 second", 1],
    ["500ms", 0],
  ])("%s", (text, expected) => expect(inSeconds(text)).toBe(expected));
});

describe("a moment with its zone", () => {
  test.each([
    ["2031-05-06T07:00:10+02:00", 9],
    ["2031-05-06T05:01:00Z", 59],
    ["2031-05-06t05:01:00z", 59],
    ["2031-05-06T05:01:00.250Z", 60],
    [
      "2032-02-29T00:00:00Z",
      (Date.parse("2032-02-29T00:00:00Z") - Date.parse("2031-05-06T05:00:01Z")) / 1_000,
    ],
  ])("%s", (text, expected) => expect(inSeconds(text)).toBe(expected));
});

describe("everything else is refused with its reason", () => {
  test.each([
    ["2031-05-06T07:00:00", /lacks a time zone such as Z or \+02:00; it is 2031-05-06T05:00:00.400Z now/],
    ["2031-02-30T07:00:00Z", /is no moment of RFC 3339/],
    ["2031-05-06", /is no moment of RFC 3339/],
    ["2031-05-06T04:59:00Z", /has passed/],
    ["2033-05-06T04:59:00Z", /at most 366 days ahead/],
    ["9999w", /at most 366 days ahead/],
    ["99999999999999999999w", /is not an offset/],
    ["0", /is not an offset/],
    ["-1", /is not an offset/],
    ["-5m", /is not an offset/],
    ["90", /is not an offset/],
    ["tomorrow", /is not an offset/],
    ["", /must be an offset/],
    ["1s".repeat(40), /must be an offset/],
    [5, /must be an offset/],
    [undefined, /must be an offset/],
    [{ minutes: 5 }, /must be an offset/],
  ])("%j", (text, expected) => expect(() => inSeconds(text)).toThrow(expected));
});

it("shows a moment as a clock in the zone has it", () => {
  expect(toIso(Date.parse("2031-05-06T05:00:00Z") / 1_000, "Europe/Berlin")).toBe(
    "2031-05-06T07:00:00+02:00",
  );
});
