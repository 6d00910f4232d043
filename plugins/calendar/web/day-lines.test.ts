import { expect, it } from "vitest";
import { toDayLines } from "./day-lines.ts";
import type { Occurrence } from "./events.svelte.ts";

function at(hour: number, title: string, automation?: string): Occurrence {
  const event = {
    title,
    all_day: title === "Fair",
    calendar_id: automation === undefined ? "mine" : "__scheduled_tasks__",
    meta: automation === undefined ? null : { automation_id: automation },
  } as unknown as Occurrence["event"];
  return { event, key: `${title} ${hour}`, start: new Date(2026, 4, 1, hour), end: undefined, color: "" };
}

it("puts all runs of an automation in one line, after the events", () => {
  const lines = toDayLines([
    at(18, "News", "a"),
    at(6, "News", "a"),
    at(9, "Gauge", "b"),
    at(15, "Council"),
    at(12, "News", "a"),
    at(8, "Dress the stones"),
    at(10, "Fair"),
  ]);
  expect(
    lines.map(({ first, runs }) => [first.event.title, runs.map(({ start }) => start.getHours())]),
  ).toEqual([
    ["Fair", []],
    ["Dress the stones", []],
    ["Council", []],
    ["News", [6, 12, 18]],
    ["Gauge", [9]],
  ]);
  expect(lines.some(({ hasMore }) => hasMore)).toBe(false);
  expect(new Set(lines.map(({ key }) => key)).size).toBe(lines.length);
});

it("says that a day has more runs than are listed", () => {
  const run = at(6, "Pulse", "a");
  const dense = { ...run, event: { ...run.event, meta: { automation_id: "a", has_more: true } } };
  expect(toDayLines([dense, at(7, "Pulse", "a")])).toMatchObject([{ hasMore: true }]);
});
