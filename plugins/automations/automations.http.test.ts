import { sql } from "kysely";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { connect, entryOf, everyone } from "#plugins/terminals/terminals.fixture.ts";
import { permit } from "#plugins/workspace-tools/tools.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let app: App;
let upstream: Upstream;
let owner: TestUser;
let admin: TestUser;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = ["alpha"];
  upstream.always(text("Nothing."));
  app = await startApp({
    env: {
      OPENAI_API_BASE_URLS: upstream.url,
      OPENAI_API_KEYS: "key",
      SCHEDULER_POLL_INTERVAL: "1",
      AUTOMATION_MAX_COUNT: "3",
      AUTOMATION_MIN_INTERVAL: "600",
      BYPASS_MODEL_ACCESS_CONTROL: "true",
    },
  });
  admin = await app.admin();
  owner = await app.user();
  await permit(app, [owner], { features: { automations: true } });
});
afterAll(async () => {
  await app?.close();
  await upstream?.close();
});

const run = (query: string) => sql.raw<Record<string, unknown>>(query).execute(app.running.database.db);
const call = (route: string, body?: unknown, { token } = owner) => {
  const [method, path] = route.split(" ", 2) as [string, string];
  return app.call(`${method} /api/v1/automations${path}`, { token, ...(body === undefined ? {} : { body }) });
};
const form = (more: Record<string, unknown> = {}) => ({
  name: "Morning",
  data: { prompt: "What is new?", model_id: "alpha", rrule: "FREQ=DAILY;BYHOUR=9", ...more },
});
// oxlint-disable-next-line typescript/no-explicit-any -- a record of the wire
async function make(more: Record<string, unknown> = {}): Promise<any> {
  const { body, text: said, status } = await call("POST /create", form(more));
  expect([status, said]).toEqual([200, expect.any(String)]);
  return body;
}
const runsOf = (id: string) =>
  vi.waitFor(
    async () => {
      const { body } = await call(`GET /${id}/runs`);
      expect(body).not.toEqual([]);
      return body;
    },
    { timeout: 20_000, interval: 100 },
  );

it("runs now, in a chat of its owner, and is paused, listed and deleted", async () => {
  const made = await make();
  expect(made).toMatchObject({ is_active: true, last_run: null, user_id: owner.id, folder_id: null });
  expect(made.next_runs).toHaveLength(5);
  expect(made.next_runs[1] - made.next_runs[0]).toBe(86_400);
  await call(`POST /${made.id}/run`);
  const [run] = await runsOf(made.id);
  expect(run).toMatchObject({ status: "success", error: null, chat_id: expect.any(String) });
  const chat = (await app.call(`GET /api/v1/chats/${run.chat_id}`, { token: owner.token })).body;
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
    return (await app.call(`GET /api/v1/calendars/events?${query}`, { token: who.token })).body;
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

it("refuses terminals and directories that no run can have, at once and when it runs", async () => {
  const box = (contexts: object) =>
    connect(
      app,
      entryOf(
        { url: upstream.url, key: "key" },
        { server_type: "orchestrator", config: { ...everyone, contexts } },
      ),
    );
  const ask = async (terminal: object) => {
    const { status, text: said } = await call("POST /create", form({ terminal }));
    return [status, said];
  };
  const shared = { server_id: "box" };
  for (const [contexts, problem] of [
    [{ automation: false }, "not available for automations"],
    [{ automation: { context_id: "automation_id" } }, "Choose a shared one"],
    [{ chat: { context_id: "chat_id" } }, "Choose a shared one"],
  ] as const) {
    expect((await box(contexts)).status).toBe(200);
    expect(await ask(shared)).toEqual([400, expect.stringContaining(problem)]);
  }
  await box({});
  expect(await ask({ ...shared, cwd: "/srv" })).toEqual([400, expect.stringContaining("data.terminal.cwd")]);
  expect(await ask({ server_id: "none" })).toEqual([400, expect.stringContaining("data.terminal.server_id")]);
  const made = await make({ terminal: shared });
  const changed = await call(`POST /${made.id}/update`, { data: { terminal: { ...shared, cwd: "/srv" } } });
  expect(changed.status).toBe(400);
  await box({ automation: false });
  await call(`POST /${made.id}/run`);
  expect(await runsOf(made.id)).toMatchObject([
    { status: "error", chat_id: null, error: expect.stringContaining("not available for automations") },
  ]);
  await call(`DELETE /${made.id}/delete`);
});

it("switches on what the model switches on by default", async () => {
  const model = { id: "beta", base_model_id: "alpha", name: "Beta", params: {} };
  const meta = { defaultFeatureIds: ["web_search"] };
  const body = { ...model, meta };
  expect((await app.call("POST /api/v1/models/create", { token: admin.token, body })).status).toBe(200);
  const made = await make({ model_id: "beta" });
  await call(`POST /${made.id}/run`);
  const [{ chat_id: id }] = await runsOf(made.id);
  const { history } = (await app.call(`GET /api/v1/chats/${id}`, { token: owner.token })).body.chat;
  expect(history.messages[history.currentId].statusHistory).toMatchObject([{ feature: "web_search" }]);
  await call(`DELETE /${made.id}/delete`);
});

it("runs a time that was missed for days once, and then at the next one", async () => {
  const made = await make();
  const due = Math.floor(Date.now() / 1_000) - 3 * 86_400;
  await run(`update automation set next_run_at = ${due} where id = '${made.id}'`);
  expect(await runsOf(made.id)).toHaveLength(1);
  const { next_run_at: next } = (await call(`GET /${made.id}`)).body;
  expect(next).toBe(made.next_run_at);
  await call(`DELETE /${made.id}/delete`);
});

it("makes no call when its owner has lost the right", async () => {
  const other = await app.user();
  await permit(app, [other], { features: { automations: true } });
  const made = (await call("POST /create", form(), other)).body;
  const before = upstream.requests.length;
  const groups = (await app.call("GET /api/v1/groups/", { token: admin.token })).body;
  const { id } = groups.find(({ name }: { name: string }) => name.includes(other.id));
  await app.call(`DELETE /api/v1/groups/id/${id}/delete`, { token: admin.token });
  await run(`update automation set next_run_at = 1 where id = '${made.id}'`);
  const rows = await vi.waitFor(
    async () => {
      const found = (await run(`select * from automation_run where automation_id = '${made.id}'`)).rows;
      expect(found).toHaveLength(1);
      return found;
    },
    { timeout: 20_000, interval: 100 },
  );
  expect(rows[0]).toMatchObject({ status: "error", chat_id: null });
  expect(upstream.requests.length).toBe(before);
});
