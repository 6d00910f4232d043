import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunStage, runScripted, startRunStage } from "#plugins/runs/runs.fixture.ts";

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage();
  await stage.user.call("POST /api/v1/auths/update/timezone", { timezone: "Europe/Berlin" });
});
afterAll(() => stage?.close());

it("lets models find, add, change and remove events on the person's own clock", async () => {
  const added = await runScripted(stage, [
    {
      name: "create_calendar_event",
      args: {
        title: "Dress the stones",
        start: "2026-07-01T15:00",
        end: "2026-07-01T16:30",
        location: "Mill",
      },
    },
    { name: "create_calendar_event", args: { title: "No start" } },
    { name: "create_calendar_event", args: { title: "Elsewhere", start: "2026-07-01", calendar_id: "none" } },
    { name: "search_calendar_events", args: { query: "stones" } },
    { name: "search_calendar_events", args: { start: "2026-07-01", end: "2026-07-02", query: "mill" } },
  ]);
  const event = {
    title: "Dress the stones",
    start: "2026-07-01T15:00+02:00",
    end: "2026-07-01T16:30+02:00",
    location: "Mill",
  };
  expect(added.values[0]).toMatchObject(event);
  expect(added.values[1]).toContain("start");
  expect(added.values[2]).toContain("Not found");
  expect(added.values.slice(3)).toMatchObject([[event], [event]]);
  const id = added.values[0].event_id;
  const changed = await runScripted(stage, [
    {
      name: "update_calendar_event",
      args: { event_id: id, start: "2026-12-01T09:00", end: "2026-12-01T10:00" },
    },
    { name: "delete_calendar_event", args: { event_id: id } },
    { name: "delete_calendar_event", args: { event_id: id } },
    { name: "search_calendar_events", args: { query: "stones" } },
  ]);
  expect(changed.values[0]).toMatchObject({ title: event.title, start: "2026-12-01T09:00+01:00" });
  expect(changed.values.slice(1)).toEqual([{ deleted: id }, expect.stringContaining("Not found"), []]);
});
