import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { type CalendarClient, calendarClient, iso, ns } from "./calendar.fixture.ts";
import { scheduledRuns, scheduledTasksId } from "./service.ts";

let app: App;
let me: CalendarClient;
let other: CalendarClient;
let worker: string | undefined;

beforeAll(async () => {
  const runner = definePlugin({
    id: "runner-test",
    title: "Runner",
    setup: () => ({
      fills: [
        fill(scheduledRuns, {
          isOpen: ({ userId }) => userId === worker,
          list: async () => [
            { id: "auto_1", title: "Report", startAt: Date.parse("2026-05-02T06:00Z"), meta: {} },
          ],
        }),
      ],
    }),
  });
  app = await startApp({ plugins: [runner] });
});
beforeEach(async () => {
  me = calendarClient(app, await app.user());
  other = calendarClient(app, await app.user());
  await me.zone("Europe/Berlin");
});
afterAll(() => app?.close());

const personal = async (client: CalendarClient) => (await client.call("GET /")).body[0];

describe("calendars", () => {
  it("begin with Personal, once, however many ask at the same time", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => me.call("GET /")));
    expect(answers.map(({ body }) => body.length)).toEqual([1, 1, 1, 1, 1]);
    expect(answers[0]?.body[0]).toMatchObject({
      name: "Personal",
      user_id: me.user.id,
      color: null,
      is_default: true,
      is_system: false,
      data: {},
      meta: {},
      write_access: true,
      access_grants: [],
    });
  });

  it("are made, changed, made the default and deleted with all that is in them", async () => {
    const first = await personal(me);
    expect((await me.call(`DELETE /${first.id}/delete`)).status).toBe(400);
    const made = (await me.call("POST /create", { name: " Work ", color: "#1a73e8" })).body;
    expect(made).toMatchObject({ name: "Work", color: "#1a73e8", is_default: false });
    expect((await me.call("POST /create", { name: "x", color: "red" })).status).toBe(422);
    expect((await me.call(`POST /${made.id}/update`, { name: "Job", meta: { a: 1 } })).body).toMatchObject({
      name: "Job",
      color: "#1a73e8",
      meta: { a: 1 },
    });
    const event = await me.add("Talk", "2026-05-01T08:00:00Z", { calendar_id: first.id });
    expect((await me.call(`POST /${made.id}/default`)).body.is_default).toBe(true);
    expect(
      (await me.call("GET /")).body.filter(({ is_default }: { is_default: boolean }) => is_default),
    ).toHaveLength(1);
    expect((await me.call(`DELETE /${first.id}/delete`)).body).toBe(true);
    expect((await me.call(`GET /events/${event.id}`)).status).toBe(404);
  });

  it("show the runs of other plugins to those who may have some", async () => {
    worker = me.user.id;
    expect((await me.call("GET /")).body.at(-1)).toMatchObject({
      id: scheduledTasksId,
      name: "Scheduled Tasks",
      is_system: true,
    });
    expect((await other.call("GET /")).body).toHaveLength(1);
    expect(await me.happens("2026-05-01", "2026-05-10")).toEqual(["Report 2026-05-02T06:00:00Z"]);
    for (const route of [
      `POST /${scheduledTasksId}/update`,
      `POST /${scheduledTasksId}/default`,
      `DELETE /${scheduledTasksId}/delete`,
    ]) {
      expect((await me.call(route, {})).status).toBe(400);
    }
    const into = { title: "x", start_at: ns("2026-05-01T08:00Z"), calendar_id: scheduledTasksId };
    expect((await me.call("POST /events/create", into)).status).toBe(400);
    worker = undefined;
  });

  it("are shared by grants, which only their owner gives", async () => {
    const { id } = await personal(me);
    const event = await me.add("Talk", "2026-05-01T08:00:00Z");
    const hidden = [
      `GET /${id}`,
      `POST /${id}/update`,
      `POST /${id}/default`,
      `DELETE /${id}/delete`,
      `GET /events/${event.id}`,
      `POST /events/${event.id}/update`,
      `DELETE /events/${event.id}/delete`,
    ];
    const admin = calendarClient(app, await app.admin());
    for (const route of hidden) {
      expect([route, (await other.call(route, route.startsWith("POST") ? {} : undefined)).status]).toEqual([
        route,
        404,
      ]);
      expect([route, (await admin.call(route, route.startsWith("POST") ? {} : undefined)).status]).toEqual([
        route,
        404,
      ]);
    }
    expect((await other.call(`POST /events/${event.id}/rsvp`, { status: "accepted" })).status).toBe(404);
    const grant = (permission: string) => ({
      access_grants: [{ principal_type: "user", principal_id: other.user.id, permission }],
    });
    await me.call(`POST /${id}/update`, grant("read"));
    expect((await other.call("GET /")).body.at(-1)).toMatchObject({
      id,
      write_access: false,
      is_default: false,
    });
    expect(await other.happens("2026-05-01", "2026-05-02")).toEqual(["Talk 2026-05-01T08:00:00Z"]);
    expect((await other.call(`POST /events/${event.id}/update`, { title: "Mine" })).status).toBe(403);
    await me.call(`POST /${id}/update`, grant("write"));
    expect((await other.call(`POST /events/${event.id}/update`, { title: "Ours" })).body.title).toBe("Ours");
    expect((await other.call(`POST /${id}/update`, grant("write"))).status).toBe(403);
    expect((await other.call(`DELETE /${id}/delete`)).status).toBe(403);
    const everybody = { access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }] };
    expect((await me.call(`POST /${id}/update`, everybody)).body.access_grants).toEqual([]);
  });
});

describe("events", () => {
  it("keep every field, whole milliseconds of nanoseconds included", async () => {
    const { id } = await personal(me);
    const sent = {
      description: "About it",
      end_at: ns("2026-05-01T09:30:00.123Z"),
      color: "#aa0000",
      location: "Room 1",
      data: { theme: 1 },
      meta: { alert_minutes: 5, automation_id: "a" },
    };
    const event = await me.add("Talk", "2026-05-01T08:00:00.001Z", sent);
    expect(event).toEqual({
      ...sent,
      id: event.id,
      calendar_id: id,
      user_id: me.user.id,
      title: "Talk",
      start_at: ns("2026-05-01T08:00:00.001Z"),
      all_day: false,
      rrule: null,
      is_cancelled: false,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      timezone: "Europe/Berlin",
      attendees: [],
      write_access: true,
    });
    expect((await me.call(`GET /events/${event.id}`)).body).toEqual(event);
    const moved = await me.call(`POST /events/${event.id}/update`, {
      start_at: ns("2026-05-02T08:00:00Z"),
      meta: { automation_id: null },
    });
    expect([iso(moved.body.end_at), moved.body.meta]).toEqual([
      "2026-05-02T09:30:00.122Z",
      { alert_minutes: 5 },
    ]);
  });

  it("are refused with the field where a value is wrong, and nothing changes", async () => {
    const event = await me.add("Talk", "2026-05-01T08:00:00Z");
    const foreign = await personal(other);
    const wrong: [number, string, Record<string, unknown>][] = [
      [422, "start_at", { start_at: Date.parse("0001-01-01T00:00:00Z") * 1e6 }],
      [422, "start_at", { start_at: "tomorrow" }],
      [400, "end_at", { end_at: ns("2026-05-01T07:00:00Z") }],
      [400, "meta.alert_minutes", { meta: { alert_minutes: "abc" } }],
      [400, "rrule", { rrule: "FREQ=SECONDLY" }],
      [
        400,
        "rrule",
        { rrule: `FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 10_000 }, (_, at) => at).join(",")}` },
      ],
      [400, "rrule", { rrule: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30" }],
      [400, "attendees", { attendees: [{ user_id: "nobody" }] }],
      [400, "data.timezone", { data: { timezone: "Mars/Base" } }],
    ];
    for (const [status, field, change] of wrong) {
      const started = performance.now();
      const answer = await me.call(`POST /events/${event.id}/update`, change);
      expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(field)]);
      expect(performance.now() - started).toBeLessThan(2_000);
    }
    expect((await me.call(`POST /events/${event.id}/update`, { calendar_id: foreign.id })).status).toBe(404);
    expect((await me.call(`GET /events/${event.id}`)).body).toEqual(event);
    expect((await me.call("GET /events?start=2026-05-01&end=2031-05-01")).status).toBe(400);
  });

  it("ask people, who answer for themselves and keep their answer", async () => {
    const third = calendarClient(app, await app.user());
    const event = await me.add("Talk", "2026-05-01T08:00:00Z", { attendees: [{ user_id: other.user.id }] });
    expect(event.attendees).toMatchObject([
      { user_id: other.user.id, status: "pending", user: { name: other.user.name } },
    ]);
    expect(await other.happens("2026-05-01", "2026-05-02")).toHaveLength(1);
    const answered = await other.call(`POST /events/${event.id}/rsvp`, { status: "accepted" });
    expect(answered.body).toMatchObject({ write_access: false, attendees: [{ status: "accepted" }] });
    expect((await other.call(`POST /events/${event.id}/update`, { title: "x" })).status).toBe(403);
    expect((await me.call(`POST /events/${event.id}/rsvp`, { status: "accepted" })).status).toBe(403);
    const more = { attendees: [{ user_id: other.user.id }, { user_id: third.user.id, status: "tentative" }] };
    const statuses = (await me.call(`POST /events/${event.id}/update`, more)).body.attendees.map(
      ({ status }: { status: string }) => status,
    );
    expect(statuses.toSorted()).toEqual(["accepted", "tentative"]);
    await other.call(`POST /events/${event.id}/rsvp`, { status: "declined" });
    expect(await other.happens("2026-05-01", "2026-05-02")).toEqual([]);
  });

  it("stay when cancelled, out of ranges, and are found by their words", async () => {
    const event = await me.add("100% Talk", "2026-05-01T08:00:00Z", { location: "Harbour" });
    await me.add("Else", "2026-05-01T08:00:00Z");
    const titles = async (query: string) =>
      (await me.call(`GET /events/search?${query}`)).body.map(({ title }: { title: string }) => title);
    expect(await titles("query=harbour")).toEqual(["100% Talk"]);
    expect(await titles("query=0%25+t")).toEqual(["100% Talk"]);
    await me.call(`POST /events/${event.id}/update`, { is_cancelled: true });
    expect(await me.happens("2026-05-01", "2026-05-02")).toEqual(["Else 2026-05-01T08:00:00Z"]);
    expect(await titles("query=harbour")).toEqual([]);
    expect(await titles("query=harbour&include_cancelled=true")).toEqual(["100% Talk"]);
    expect((await me.call(`DELETE /events/${event.id}/delete`)).body).toBe(true);
  });
});
