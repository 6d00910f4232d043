import ICAL from "ical.js";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type CalendarClient, calendarClient, iso, ns } from "./calendar.fixture.ts";

let app: App;
let me: CalendarClient;
let other: CalendarClient;

beforeAll(async () => {
  app = await useApp();
});
beforeEach(async () => {
  me = calendarClient(app, await app.user());
  other = calendarClient(app, await app.user());
  await me.zone("Europe/Berlin");
});
afterAll(() => app?.close());

const file = (...lines: string[]) =>
  ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Test//EN", ...lines, "END:VCALENDAR", ""].join("\r\n");
const event = (...lines: string[]) => ["BEGIN:VEVENT", "DTSTAMP:20260101T000000Z", ...lines, "END:VEVENT"];
const personal = async (client: CalendarClient): Promise<string> => (await client.call("GET /")).body[0].id;
const put = async (client: CalendarClient, id: string, ics: string) =>
  await client.call(`POST /${id}/import`, { ics });

it("takes a file in once, keeps the clock of its zones, and changes what it knows", async () => {
  const id = await personal(me);
  const ics = file(
    ...event(
      "UID:talk",
      "SUMMARY:Talk\\, long",
      "DTSTART:20260501T080000Z",
      "DURATION:PT90M",
      "LOCATION:Mill",
    ),
    ...event("UID:day", "SUMMARY:Fair", "DTSTART;VALUE=DATE:20260502", "DTEND;VALUE=DATE:20260504"),
    ...event(
      "UID:run",
      "SUMMARY:Run",
      "DTSTART;TZID=America/New_York:20260301T090000",
      "RRULE:FREQ=WEEKLY;COUNT=4",
      "EXDATE;TZID=America/New_York:20260315T090000",
      "BEGIN:VALARM",
      "ACTION:DISPLAY",
      "TRIGGER:-PT15M",
      "DESCRIPTION:x",
      "END:VALARM",
    ),
    ...event(
      "UID:run",
      "SUMMARY:Late run",
      "RECURRENCE-ID;TZID=America/New_York:20260308T090000",
      "DTSTART;TZID=America/New_York:20260308T110000",
    ),
    ...event("UID:float", "SUMMARY:Floats", "DTSTART:20260505T090000"),
  );
  expect((await put(me, id, ics)).body).toEqual({ created: 5, updated: 0, skipped: [] });
  const expected = [
    "Run 2026-03-01T14:00:00Z",
    "Late run 2026-03-08T15:00:00Z",
    "Run 2026-03-22T13:00:00Z",
    "Talk, long 2026-05-01T08:00:00Z",
    "Fair 2026-05-01T22:00:00Z",
    "Floats 2026-05-05T07:00:00Z",
  ];
  expect(await me.happens("2026-02-01", "2026-06-01")).toEqual(expected);
  const again = (await put(me, id, ics.replace("Talk\\, long", "Talk"))).body;
  expect(again).toEqual({ created: 0, updated: 5, skipped: [] });
  expect(await me.happens("2026-02-01", "2026-06-01")).toEqual(
    expected.map((text) => text.replace("Talk, long", "Talk")),
  );
  const run = (await me.call("GET /events/search?query=Run")).body.find(
    ({ rrule }: { rrule: unknown }) => rrule,
  );
  expect(run).toMatchObject({ meta: { alert_minutes: 15 }, timezone: "America/New_York" });
});

it("leaves out what cannot be kept, each with its reason", async () => {
  const id = await personal(me);
  const ics = file(
    ...event("UID:ok", "SUMMARY:Kept", "DTSTART:20260501T080000Z"),
    ...event("UID:ok", "SUMMARY:Twin", "DTSTART:20260501T080000Z"),
    ...event("UID:fast", "SUMMARY:Fast", "DTSTART:20260501T080000Z", "RRULE:FREQ=SECONDLY"),
    ...event("UID:rdate", "SUMMARY:Dates", "DTSTART:20260501T080000Z", "RDATE:20260601T080000Z"),
    ...event("UID:mars", "SUMMARY:Mars", "DTSTART;TZID=Mars/Base:20260501T080000"),
    ...event("UID:old", "SUMMARY:Old", "DTSTART:00010101T080000Z"),
    ...event("UID:none", "SUMMARY:None"),
    ...event("SUMMARY:Nobody", "DTSTART:20260501T080000Z"),
    ...event("UID:back", "SUMMARY:Back", "DTSTART:20260501T080000Z", "DTEND:20260401T080000Z"),
  );
  const { created, skipped } = (await put(me, id, ics)).body;
  expect(created).toBe(1);
  const reasons = Object.fromEntries(
    skipped.map(({ title, reason }: { title: string; reason: string }) => [title, reason]),
  );
  expect(reasons).toEqual({
    Twin: expect.stringContaining("twice"),
    Fast: expect.stringContaining("FREQ"),
    Dates: expect.stringContaining("RDATE"),
    Mars: expect.stringContaining("Mars/Base"),
    Old: expect.stringContaining("1900"),
    None: expect.stringContaining("DTSTART"),
    Nobody: expect.stringContaining("UID"),
    Back: expect.stringContaining("end_at"),
  });
  for (const wrong of [
    "nonsense",
    "BEGIN:VCARD\r\nEND:VCARD",
    "BEGIN:VCALENDAR\r\nBEGIN:VEVENT",
    "BEGIN:A\r\n".repeat(20_000),
  ]) {
    expect(await put(me, id, wrong)).toMatchObject({ status: 400, text: expect.stringContaining("ics") });
  }
  const many = file(
    ...Array.from({ length: 5_001 }, (_, at) => event(`UID:${at}`, "DTSTART:20260501T080000Z")).flat(),
  );
  expect((await put(me, id, many)).status).toBe(400);
  expect((await put(other, id, ics)).status).toBe(404);
  expect((await put(me, "__scheduled_tasks__", ics)).status).toBe(400);
});

it("writes a file that other readers and a second calendar understand", async () => {
  const id = await personal(me);
  const attendees = [{ user_id: other.user.id, status: "accepted" }];
  await me.add("Council", "2026-05-04T13:00:00Z", {
    end_at: ns("2026-05-04T14:00:00Z"),
    attendees,
    meta: { alert_minutes: 30 },
  });
  const series = await me.add("Run", "2026-03-27T08:00:00Z", {
    rrule: "FREQ=DAILY;UNTIL=20260402",
    data: { timezone: "Europe/Berlin" },
  });
  const gone = `scope=this&instance_start=${ns("2026-03-28T08:00:00Z")}`;
  await me.call(`DELETE /events/${series.id}/delete?${gone}`);
  await me.add("Fair", "2026-05-08T22:00:00Z", { all_day: true, end_at: ns("2026-05-10T22:00:00Z") });
  const answer = await me.call(`GET /${id}/export`);
  expect(answer.headers.get("content-type")).toContain("text/calendar");
  expect(answer.headers.get("content-disposition")).toBe('attachment; filename="Personal.ics"');
  const calendar = new ICAL.Component(ICAL.parse(answer.text));
  const [zone] = calendar.getAllSubcomponents("vtimezone");
  expect(zone?.getFirstPropertyValue("tzid")).toBe("Europe/Berlin");
  // The library's own expansion, by the zone that the file describes, meets the platform's.
  const run = calendar
    .getAllSubcomponents("vevent")
    .find((one) => one.getFirstPropertyValue("summary") === "Run");
  const start = ((run as ICAL.Component).getFirstPropertyValue("dtstart") as ICAL.Time).clone();
  start.zone = new ICAL.Timezone(zone as ICAL.Component);
  expect(iso(start.toUnixTime() * 1e9)).toBe("2026-03-27T08:00:00Z");
  start.day += 3;
  expect(iso(start.toUnixTime() * 1e9)).toBe("2026-03-30T07:00:00Z");
  expect(answer.text).toContain("PARTSTAT=ACCEPTED");
  expect(answer.text).toContain("DTSTART;VALUE=DATE:20260509");

  const target = await personal(other);
  await other.zone("Europe/Berlin");
  expect((await put(other, target, answer.text)).body).toEqual({ created: 3, updated: 0, skipped: [] });
  const mine = await me.happens("2026-03-01", "2026-06-01");
  expect(mine).toHaveLength(8);
  const ids = `&calendar_ids=${target}`;
  expect(await other.happens("2026-03-01", `2026-06-01${ids}`)).toEqual(mine);
  expect((await other.call(`GET /${id}/export`)).status).toBe(404);
});

it("serves a link without a sign-in, until it is ended or its maker may read the calendar no more", async () => {
  const id = await personal(me);
  await me.add("Secret talk", "2026-05-01T08:00:00Z", { attendees: [{ user_id: other.user.id }] });
  expect((await me.call(`GET /${id}/link`)).body).toBeNull();
  const { path, created_at: at } = (await me.call(`POST /${id}/link`)).body;
  expect(path).toMatch(/^\/api\/v1\/calendars\/subscribe\/[\w-]+\/[\w-]{43}\.ics$/);
  const read = async (of = path) => await app.call(`GET ${of}`);
  const served = await read();
  expect([served.status, served.headers.get("content-type")]).toEqual([200, "text/calendar; charset=utf-8"]);
  expect(served.text).toContain("SUMMARY:Secret talk");
  expect(served.text).not.toContain(other.user.email);
  const told = await me.call(`GET /${id}/link`);
  expect(told.body).toEqual({ created_at: at, last_used_at: expect.any(Number) });
  const secret = path.split("/").at(-1).replace(".ics", "");
  expect(told.text).not.toContain(secret);
  const { rows } = await sql`select * from calendar_link`.execute(app.running.database.db);
  expect(JSON.stringify(rows)).not.toContain(secret);

  expect((await other.call(`GET /${id}/link`)).status).toBe(404);
  expect((await other.call(`DELETE /${id}/link`)).status).toBe(404);
  const renewed = (await me.call(`POST /${id}/link`)).body.path;
  expect((await read()).status).toBe(404);
  expect((await read(renewed)).status).toBe(200);
  await me.call(`DELETE /${id}/link`);
  expect((await read(renewed)).status).toBe(404);

  // The link of a reader goes with the grant that it rests on.
  const grants = (permission?: string) => ({
    access_grants: permission ? [{ principal_type: "user", principal_id: other.user.id, permission }] : [],
  });
  await me.call(`POST /${id}/update`, grants("read"));
  const theirs = (await other.call(`POST /${id}/link`)).body.path;
  expect((await read(theirs)).status).toBe(200);
  await me.call(`POST /${id}/update`, grants());
  expect((await read(theirs)).status).toBe(404);
  await me.call(`POST /${id}/update`, grants("read"));
  const admin = await app.admin();
  await admin.call(`POST /api/v1/users/${other.user.id}/update`, { role: "pending" });
  expect((await read(theirs)).status).toBe(404);
});

it("lets nobody try secrets without end", async () => {
  const id = await personal(me);
  const { path } = (await me.call(`POST /${id}/link`)).body;
  const wrong = path.replace(/[\w-]{43}\.ics$/, "x".repeat(43));
  const statuses = new Set<number>();
  for (let tries = 0; tries < 40; tries += 1) {
    statuses.add((await app.call(`GET ${wrong}`)).status);
  }
  expect([...statuses]).toEqual([404, 429]);
});
