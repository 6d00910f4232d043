import { expect, it } from "vitest";
import { isTimeZone, moveMoment, toMoment } from "./moments.ts";

const berlin = "Europe/Berlin";
const at = (iso: string) => Date.parse(iso);
const moved = (iso: string, offset: object, zone = berlin) =>
  toMoment(moveMoment(at(iso), zone, offset), zone).iso;

it.each([
  ["2026-03-29T12:00:00+02:00", { days: -1 }, "2026-03-28T12:00:00+01:00"],
  ["2026-03-29T12:00:00+02:00", { hours: -24 }, "2026-03-28T11:00:00+01:00"],
  // 02:30 does not exist on that day.
  ["2026-03-28T02:30:00+01:00", { days: 1 }, "2026-03-29T03:30:00+02:00"],
  ["2026-03-31T08:00:00+02:00", { months: -1 }, "2026-02-28T08:00:00+01:00"],
  ["2024-02-29T08:00:00+01:00", { years: 1 }, "2025-02-28T08:00:00+01:00"],
  ["2026-01-15T08:00:00+01:00", { weeks: -2, minutes: 30 }, "2026-01-01T08:30:00+01:00"],
])("%s moved by %o is %s", (from, offset, to) => {
  expect(moved(from, offset)).toBe(to);
});

it("shows a moment as the clock of a place does", () => {
  const ms = at("2026-11-25T18:30:15.900Z");
  expect(toMoment(ms, "Asia/Kathmandu")).toEqual({
    timestamp: 1_795_631_415,
    iso: "2026-11-26T00:15:15+05:45",
    weekday: "Thursday",
  });
  expect(toMoment(ms, "UTC").iso).toMatch(/^2026-11-25T18:30:15(\+00:00|Z)$/);
});

it("refuses dates that nobody speaks of, and zones that are none", () => {
  expect(() => moveMoment(at("2026-11-25T18:30:15Z"), berlin, { years: -3_000 })).toThrow(/years 1 to 9999/);
  expect(() => moveMoment(at("2026-11-25T18:30:15Z"), berlin, { years: 900_000 })).toThrow(/years 1 to 9999/);
  expect(["Mars/Base", "", 7, "x".repeat(200), undefined].map(isTimeZone)).toEqual(Array(5).fill(false));
});
