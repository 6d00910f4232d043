import { expect, it } from "vitest";
import { setUp } from "#test/support/set-up.ts";
import { automationForm as form, type AutomationStage, startAutomationStage } from "./automations.fixture.ts";

let { app, owner, admin, call, make, runsOf } = {} as AutomationStage;

setUp(async (keep) => {
  ({ app, owner, admin, call, make, runsOf } = await keep(
    startAutomationStage({ AUTOMATION_MAX_COUNT: "3", AUTOMATION_MIN_INTERVAL: "600" }),
  ));
});

it("runs now, in a chat of its owner, and is paused, listed and deleted", async () => {
  const made = await make();
  expect(made).toMatchObject({ is_active: true, last_run: null, user_id: owner.id, folder_id: null });
  expect(made.next_runs).toHaveLength(5);
  expect(made.next_runs[1] - made.next_runs[0]).toBe(86_400);
  await call(`POST /${made.id}/run`);
  const [run] = await runsOf(made.id);
  expect(run).toMatchObject({ status: "success", error: null, chat_id: expect.any(String) });
  const chat = (await owner.call(`GET /api/v1/chats/${run.chat_id}`)).body;
  expect(chat).toMatchObject({ title: "Morning", meta: { automation_id: made.id } });
  expect(Object.keys(chat.chat.history.messages)).toHaveLength(2);
  const paused = (await call(`POST /${made.id}/toggle`)).body;
  expect(paused).toMatchObject({ is_active: false, next_runs: [], last_run: { id: run.id } });
  expect((await call("GET /list?status=paused&query=NEW")).body).toMatchObject({ total: 1 });
  for (const route of [`GET /${made.id}`, `POST /${made.id}/run`, `GET /${made.id}/runs`]) {
    expect((await call(route, undefined, admin)).status).toBe(404);
  }
  expect((await call(`DELETE /${made.id}/delete`)).body).toBe(true);
  expect((await call(`GET /${made.id}`)).status).toBe(404);
});

it("tells the next runs of a rule before it is stored, within the caller's limits", async () => {
  const ask = (rrule: string, who = owner) =>
    call(`GET /next-runs?rrule=${encodeURIComponent(rrule)}`, undefined, who);
  const { body } = await ask("FREQ=DAILY;BYHOUR=9");
  expect(body).toEqual({ next_runs: expect.any(Array), time_zone: expect.any(String) });
  expect(body.next_runs).toHaveLength(5);
  expect((await ask("FREQ=MINUTELY")).status).toBe(400);
  expect((await ask("FREQ=MINUTELY", admin)).status).toBe(200);
  expect((await ask("nonsense", admin)).text).toContain("data.rrule");
  expect((await ask("FREQ=DAILY", await app.user())).status).toBe(403);
});

it("stands in the calendar Scheduled Tasks, its past runs and those to come", async () => {
  const made = await make();
  await call(`POST /${made.id}/run`);
  const [run] = await runsOf(made.id);
  const listed = async (who = owner) => {
    const [start, end] = [-1, 9].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
    const query = `start=${start}&end=${end}&calendar_ids=__scheduled_tasks__`;
    return (await who.call(`GET /api/v1/calendars/events?${query}`)).body;
  };
  const entries = (await listed()) as { id: string; start_at: number; meta: object }[];
  expect(entries[0]).toMatchObject({
    id: `run_${run.id}`,
    calendar_id: "__scheduled_tasks__",
    meta: { automation_id: made.id, chat_id: run.chat_id, status: "success" },
  });
  const coming = entries.slice(1);
  expect(coming.length).toBeGreaterThanOrEqual(8);
  expect(coming.every(({ id }) => id === `auto_${made.id}`)).toBe(true);
  expect(coming.slice(0, 5).map(({ start_at: at }) => at / 1e9)).toEqual(made.next_runs);
  await call(`POST /${made.id}/toggle`);
  expect(await listed()).toMatchObject([{ id: `run_${run.id}` }]);
  expect(await listed(admin)).toEqual([]);
  await call(`DELETE /${made.id}/delete`);
});

it("shows its runs to the end of a month, however close together they are", async () => {
  const end = Date.now() + 42 * 86_400_000;
  const comingOf = async (rrule: string) => {
    const made = await make({ rrule });
    const query = `start=${new Date().toISOString()}&end=${new Date(end).toISOString()}&calendar_ids=__scheduled_tasks__`;
    const { body } = await owner.call(`GET /api/v1/calendars/events?${query}`);
    await call(`DELETE /${made.id}/delete`);
    return body as { start_at: number; meta: { has_more?: boolean } }[];
  };
  const hours = await comingOf("FREQ=HOURLY;INTERVAL=2");
  expect(Math.abs(hours.length - 504)).toBeLessThanOrEqual(1);
  expect(hours.some(({ meta }) => meta.has_more)).toBe(false);
  const dense = await comingOf("FREQ=MINUTELY;INTERVAL=10");
  const days = new Set(
    dense.map(({ start_at: at }) => Math.floor((at / 1e6 - (end - 42 * 86_400_000)) / 86_400_000)),
  );
  expect(days.size).toBeGreaterThanOrEqual(42);
  expect(dense.every(({ meta }) => meta.has_more)).toBe(true);
  expect(dense.length).toBeLessThanOrEqual(43 * 24);
});

it("refuses what is wrong or too much", async () => {
  for (const [more, problem] of [
    [{ rrule: "FREQ=SECONDLY" }, "data.rrule: FREQ"],
    [{ rrule: "FREQ=MINUTELY;INTERVAL=5" }, "every 600 seconds"],
    [{ rrule: "DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=3" }, "never runs again"],
    [{ model_id: "none" }, "data.model_id"],
  ] as const) {
    const answer = await call("POST /create", form(more));
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(problem)]);
  }
  const made = [await make(), await make(), await make()];
  expect((await call("POST /create", form())).status).toBe(403);
  for (const { id } of made) {
    await call(`DELETE /${id}/delete`);
  }
  const stranger = await app.user();
  expect((await call("GET /list", undefined, stranger)).status).toBe(403);
});
