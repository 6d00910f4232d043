import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { type CalendarClient, calendarClient } from "./calendar.fixture.ts";

const minute = 60_000;
const posted: { event: string; subject: { id: string }; data: { minutes: number } }[] = [];
let heard: () => void = () => undefined;
const target = createServer(async (request, response) => {
  const chunks = await request.toArray();
  posted.push(JSON.parse(Buffer.concat(chunks).toString()));
  response.end();
  heard();
});
let app: App;
let me: CalendarClient;
let other: CalendarClient;

beforeAll(async () => {
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
  app = await startApp({
    env: {
      // The job is run by the tests alone.
      SCHEDULER_POLL_INTERVAL: "3600",
      ENABLE_USER_WEBHOOKS: "true",
      USER_PERMISSIONS_FEATURES_WEBHOOKS: "true",
      EGRESS_ALLOWED_PRIVATE_ORIGINS: origin,
    },
  });
  me = calendarClient(app, await app.user());
  other = calendarClient(app, await app.user());
  const body = { type: "webhook", events: ["calendar.alert"], delivery: "always", config: { url: origin } };
  expect((await other.user.call("POST /api/v1/notifications/targets", body)).status).toBe(200);
});
afterAll(async () => {
  await app?.close();
  target.close();
});

/** One look for due events, as each replica takes it. */
async function look(at: App = app): Promise<void> {
  const owned = at.running.gathered.jobs.find(({ job }) => job.id === "calendar.alerts");
  await owned?.job.run({}, { signal: new AbortController().signal });
}

const inMinutes = (count: number) =>
  new Date(Math.floor(Date.now() / 1000) * 1000 + count * minute).toISOString();

it("tells everybody of a start once, in the window of the event, with toast and webhook", async () => {
  const [mine, theirs] = await Promise.all(
    [me, other].map(({ user }) => connectPlain(app.url, { token: user.token })),
  );
  await Promise.all([mine?.sessionId(), theirs?.sessionId()]);
  const attendees = [{ user_id: other.user.id, status: "accepted" }];
  const near = await me.add("Near", inMinutes(5), { attendees });
  await me.add("Far", inMinutes(15));
  const early = await me.add("Early", inMinutes(15), { meta: { alert_minutes: 30 } });
  await me.add("Silent", inMinutes(5), { meta: { alert_minutes: -1 } });
  await me.add("Late", inMinutes(5), { meta: { alert_minutes: 1 } });
  await me
    .add("Cancelled", inMinutes(5), { attendees })
    .then(({ id }) => me.call(`POST /events/${id}/update`, { is_cancelled: true }));
  const arrived = new Promise<void>((resolve) => (heard = resolve));
  await Promise.all([look(), look(), look()]);
  await look();
  const end = await me.add("End", inMinutes(1), { attendees });
  await look();
  const alerts = async (client: typeof mine) => {
    await client?.event((_, { data }) => data?.data?.event_id === end.id);
    return client?.events.flatMap(({ data }) =>
      data?.data?.type === "calendar:alert" ? [data.data.data] : [],
    );
  };
  expect((await alerts(mine))?.map(({ title }) => title).toSorted()).toEqual(["Early", "End", "Near"]);
  expect(await alerts(theirs)).toMatchObject([
    { event_id: near.id, title: "Near", start_at: near.start_at, minutes: 5, location: null },
    { event_id: end.id },
  ]);
  expect((await me.call(`GET /events/${early.id}`)).body.meta).toMatchObject({
    alert_minutes: 30,
    alerted_at: expect.any(Number),
  });
  await arrived;
  await expect
    .poll(() => posted.map(({ subject }) => subject.id).toSorted())
    .toEqual([near.id, end.id].toSorted());
  expect(posted.find(({ subject }) => subject.id === near.id)).toMatchObject({
    event: "calendar.alert",
    data: { minutes: 5 },
  });
  mine?.close();
  theirs?.close();
});

it("looks as far ahead as CALENDAR_ALERT_LOOKAHEAD_MINUTES says", async () => {
  const env = { SCHEDULER_POLL_INTERVAL: "3600", CALENDAR_ALERT_LOOKAHEAD_MINUTES: "20" };
  const far = await startApp({ env });
  const client = calendarClient(far, await far.user());
  const [near, beyond] = [await client.add("Near", inMinutes(15)), await client.add("Beyond", inMinutes(25))];
  await look(far);
  const alertedAt = async (id: string) => (await client.call(`GET /events/${id}`)).body.meta?.alerted_at;
  expect([await alertedAt(near.id), await alertedAt(beyond.id)]).toEqual([expect.any(Number), undefined]);
  await far.close();
});

it("goes on to the next start of a series, and passes over what was missed", async () => {
  const run = await me.add("Run", inMinutes(3), { rrule: "FREQ=DAILY" });
  const { db } = app.running.database;
  const next = async () => {
    const found = await sql<{
      next: string;
    }>`select next_alert_start::text as next from calendar_event where id = ${run.id}`.execute(db);
    return Number(found.rows[0]?.next) - run.start_at;
  };
  expect(await next()).toBeLessThan(1e6);
  await look();
  expect(Math.round((await next()) / 36e11)).toBeOneOf([23, 24, 25]);
  const missed = 3 * 86_400_000_000_000;
  await sql`update calendar_event set start_at = start_at - ${missed}, next_alert_start = start_at - ${missed} where id = ${run.id}`.execute(
    db,
  );
  await look();
  expect(Number((await me.call(`GET /events/${run.id}`)).body.meta.alerted_at)).toBeGreaterThan(0);
  expect(await next()).toBeGreaterThan(-1e6);
});
