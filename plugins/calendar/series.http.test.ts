import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type CalendarClient, calendarClient, ns } from "./calendar.fixture.ts";

let app: App;
let me: CalendarClient;

beforeAll(async () => {
  app = await useApp();
});
beforeEach(async () => {
  me = calendarClient(app, await app.user());
  await me.zone("Europe/Berlin");
});
afterAll(() => app?.close());

describe("series", () => {
  const daily = (start: string, more = {}) =>
    me.add("Run", start, { end_at: ns(start) + 36e11, rrule: "FREQ=DAILY", ...more });

  it("keep the clock over both changes in Berlin, and skip an hour that is none", async () => {
    await daily("2026-03-27T08:00:00Z");
    expect(await me.happens("2026-03-28", "2026-03-31")).toEqual([
      "Run 2026-03-28T08:00:00Z",
      "Run 2026-03-29T07:00:00Z",
      "Run 2026-03-30T07:00:00Z",
    ]);
    expect((await me.happens("2026-10-24", "2026-10-27")).map((text) => text.slice(4, 20))).toEqual([
      "2026-10-24T07:00",
      "2026-10-25T08:00",
      "2026-10-26T08:00",
    ]);
    await me.add("Night", "2026-03-27T01:30:00Z", { rrule: "FREQ=DAILY;COUNT=4" });
    const nights = (await me.happens("2026-03-26", "2026-04-05")).filter((text) => text.startsWith("Night"));
    expect(nights).toEqual([
      "Night 2026-03-27T01:30:00Z",
      "Night 2026-03-28T01:30:00Z",
      "Night 2026-03-30T00:30:00Z",
      "Night 2026-03-31T00:30:00Z",
    ]);
  });

  it("let one occurrence be moved or taken away, and the rest be changed from one on", async () => {
    const run = await daily("2026-05-01T06:00:00Z", { rrule: "FREQ=DAILY;COUNT=6" });
    const change = (part: object) => me.call(`POST /events/${run.id}/update`, part);
    expect((await change({ scope: "this", instance_start: ns("2026-05-02T07:00:00Z") })).status).toBe(400);
    const one = await change({
      scope: "this",
      instance_start: ns("2026-05-02T06:00:00Z"),
      start_at: ns("2026-05-02T10:00:00Z"),
      title: "Late",
    });
    expect(one.body).toMatchObject({ title: "Late", rrule: null, data: { series_id: run.id } });
    const gone = `scope=this&instance_start=${ns("2026-05-03T06:00:00Z")}`;
    expect((await me.call(`DELETE /events/${run.id}/delete?${gone}`)).body).toBe(true);
    const rest = await change({
      scope: "following",
      instance_start: ns("2026-05-05T06:00:00Z"),
      start_at: ns("2026-05-05T05:00:00Z"),
      title: "Early",
    });
    expect(rest.body.rrule).toBe("FREQ=DAILY;COUNT=2");
    expect(await me.happens("2026-05-01", "2026-05-20")).toEqual([
      "Run 2026-05-01T06:00:00Z",
      "Late 2026-05-02T10:00:00Z",
      "Run 2026-05-04T06:00:00Z",
      "Early 2026-05-05T05:00:00Z",
      "Early 2026-05-06T05:00:00Z",
    ]);
    const stop = `scope=following&instance_start=${ns("2026-05-04T06:00:00Z")}`;
    expect((await me.call(`DELETE /events/${run.id}/delete?${stop}`)).body).toBe(true);
    expect(
      (await me.happens("2026-05-01", "2026-05-20")).filter((text) => text.startsWith("Run")),
    ).toHaveLength(1);
  });

  it("move as a whole on the clock when one occurrence of all is moved", async () => {
    const run = await daily("2026-03-01T08:00:00Z", { rrule: "FREQ=DAILY;COUNT=60" });
    await me.call(`POST /events/${run.id}/update`, {
      scope: "all",
      instance_start: ns("2026-04-10T07:00:00Z"),
      start_at: ns("2026-04-10T08:30:00Z"),
    });
    expect(await me.happens("2026-03-01", "2026-03-02")).toEqual(["Run 2026-03-01T09:30:00Z"]);
    expect(await me.happens("2026-04-10", "2026-04-11")).toEqual(["Run 2026-04-10T08:30:00Z"]);
  });
});
