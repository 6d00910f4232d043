import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { called, noon, witness, written } from "./usage.fixture.ts";

let app: App;
let admin: TestUser;
let ann: TestUser;
let ben: TestUser;

const get = (path: string, token: string) => app.call(`GET /api/v1${path}`, { token });

beforeAll(async () => {
  app = await startApp({ plugins: [witness] });
  [admin, ann, ben] = [await app.admin(), await app.user(), await app.user()];
  called({ by: ann.id, at: noon("2026-03-01"), model: "a", chatId: "c1", tools: ["search", "search"] });
  called({ by: ann.id, at: noon("2026-03-02"), model: "a", chatId: "c1", input: 1000 });
  called({
    by: ann.id,
    at: noon("2026-03-02") + 3_600_000,
    model: "b",
    chatId: "temporary:x",
    tools: ["read"],
  });
  called({ by: ann.id, at: noon("2026-03-05"), model: "a", chatId: "c2", outcome: "failed", output: 0 });
  called({ by: ben.id, at: noon("2026-03-02"), model: "b", chatId: "c3", output: 500 });
  expect(await written(app)).toEqual({ records: 5, calls: 5 });
});
afterAll(() => app.close());

const march = "start_date=2026-03-01&end_date=2026-03-31";

it("shows everybody their own usage, and nobody else's", async () => {
  expect((await get(`/users/usage?${march}`, ann.token)).body).toEqual({
    period: { start_date: "2026-03-01", end_date: "2026-03-31", days: 31 },
    totals: {
      count: 4,
      failed: 1,
      estimated: 0,
      input_tokens: 1030,
      output_tokens: 15,
      cached_tokens: 8,
      reasoning_tokens: 4,
      total_tokens: 1045,
      chats: 2,
      models: 2,
    },
    heatmap: [
      { date: "2026-03-01", count: 1, total_tokens: 15 },
      { date: "2026-03-02", count: 2, total_tokens: 1020 },
      { date: "2026-03-05", count: 1, total_tokens: 10 },
    ],
    insights: {
      active_days: 3,
      current_streak: 0,
      longest_streak: 2,
      busiest_day: { date: "2026-03-02", count: 2 },
      busiest_hour: 12,
      tokens_per_active_day: 348,
    },
    top_models: [
      expect.objectContaining({ model_id: "a", count: 3 }),
      expect.objectContaining({ model_id: "b" }),
    ],
    top_tools: [
      { name: "search", count: 2 },
      { name: "read", count: 1 },
    ],
  });
});

it.each([
  [`start_date=${noon("2026-03-02") / 1000}&end_date=${noon("2026-03-02") / 1000}`, 2],
  ["end_date=2026-03-02&days=1", 2],
  ["end_date=2026-03-02&days=2", 3],
  ["end_date=2026-03-06&days=2", 1],
  ["", 0],
])("takes the period %j", async (query, count) => {
  expect((await get(`/users/usage?${query}`, ann.token)).body.totals.count).toBe(count);
});

it.each([
  ["days=0", 422],
  ["days=x", 422],
  ["start_date=yesterday", 422],
  ["start_date=2026-02-30", 422],
  ["start_date=2026-03-02&end_date=2026-03-01", 400],
  ["start_date=2001-01-01&end_date=2026-01-01", 400],
])("refuses the period %s", async (query, status) => {
  const answer = await get(`/users/usage?${query}`, ann.token);
  expect([answer.status, typeof answer.body.detail]).toEqual([status, status === 400 ? "string" : "object"]);
});

it("adds everything up for administrators", async () => {
  expect((await get(`/analytics/summary?${march}`, admin.token)).body).toMatchObject({
    total_messages: 5,
    total_chats: 3,
    total_models: 2,
    total_users: 2,
    total_tokens: 1555,
  });
  expect((await get(`/analytics/tokens?${march}`, admin.token)).body).toMatchObject({
    models: [
      { model_id: "a", message_count: 3, input_tokens: 1020, output_tokens: 10, total_tokens: 1030 },
      { model_id: "b", message_count: 2, input_tokens: 20, output_tokens: 505, total_tokens: 525 },
    ],
    total_input_tokens: 1040,
    total_output_tokens: 515,
    total_tokens: 1555,
  });
  expect((await get(`/analytics/models?${march}`, admin.token)).body.models).toMatchObject([
    { model_id: "a", count: 3, unique_users: 1, unique_chats: 2 },
    { model_id: "b", count: 2, unique_users: 2, unique_chats: 1 },
  ]);
  expect((await get(`/analytics/users?${march}&limit=1`, admin.token)).body.users).toMatchObject([
    {
      user_id: ann.id,
      name: ann.name,
      email: ann.email,
      count: 4,
      models: [{ model_id: "a" }, { model_id: "b" }],
    },
  ]);
});

it("shows days and hours", async () => {
  expect((await get(`/analytics/daily?${march}`, admin.token)).body.data).toEqual([
    { date: "2026-03-01", models: { a: 1 }, tokens: { a: 15 } },
    { date: "2026-03-02", models: { a: 1, b: 2 }, tokens: { a: 1005, b: 525 } },
    { date: "2026-03-05", models: { a: 1 }, tokens: { a: 10 } },
  ]);
  const hourly = await get(`/analytics/daily?${march}&granularity=hourly`, admin.token);
  expect(hourly.body.data[2]).toEqual({ date: "2026-03-02 13:00", models: { b: 1 }, tokens: { b: 15 } });
});

it("looks at one group alone", async () => {
  const group = await app.call("POST /api/v1/groups/create", {
    token: admin.token,
    body: { name: "Ben's", description: "" },
  });
  await app.call(`POST /api/v1/groups/id/${group.body.id}/users/add`, {
    token: admin.token,
    body: { user_ids: [ben.id] },
  });
  for (const [path, count] of [
    ["summary", (body: Record<string, number>) => body["total_messages"]],
    ["models", (body: { models: unknown[] }) => body.models.length],
    ["users", (body: { users: unknown[] }) => body.users.length],
    ["messages", (body: unknown[]) => body.length],
    ["daily", (body: { data: unknown[] }) => body.data.length],
  ] as const) {
    const { body } = await get(`/analytics/${path}?${march}&group_id=${group.body.id}`, admin.token);
    expect([path, count(body as never)]).toEqual([path, 1]);
  }
});

it("lists single calls without a word of what was said", async () => {
  expect((await get(`/analytics/messages?${march}&chat_id=c1&limit=1`, admin.token)).body).toEqual([
    {
      id: expect.any(String),
      created_at: noon("2026-03-02") / 1000,
      user_id: ann.id,
      role: "assistant",
      model_id: "a",
      base_model_id: "base-a",
      provider: "common",
      connection: "0",
      wire: "chat",
      task: null,
      chat_id: "c1",
      message_id: "message-1",
      usage: { input_tokens: 1000, output_tokens: 5, total_tokens: 1005 },
      cached_tokens: 2,
      reasoning_tokens: 1,
      estimated: false,
      duration_ms: 100,
      first_token_ms: 10,
      outcome: "completed",
      tools: [],
    },
  ]);
});

it.each(["models", "users", "messages", "summary", "daily", "tokens"])(
  "keeps %s from everybody but administrators",
  async (name) => {
    expect((await get(`/analytics/${name}`, ann.token)).status).toBe(403);
    expect((await get(`/analytics/${name}`, admin.token)).status).toBe(200);
  },
);

it("is refused to administrators as well while ENABLE_ADMIN_ANALYTICS is off", async () => {
  const other = await startApp({ env: { ENABLE_ADMIN_ANALYTICS: "false" } });
  const boss = await other.admin();
  const answer = await boss.call("GET /api/v1/analytics/summary");
  expect([answer.status, answer.body]).toEqual([403, { detail: "Analytics are switched off." }]);
  expect((await boss.call("GET /api/config")).body.features.enable_admin_analytics).toBe(false);
  expect((await boss.call("GET /api/v1/users/usage")).status).toBe(200);
  await other.close();
});

it("reports durations and costs by day, model, account and group", async () => {
  const group = (await admin.call("POST /api/v1/groups/create", { name: "Millers", description: "" })).body;
  await admin.call(`POST /api/v1/groups/id/${group.id}/users/add`, { user_ids: [ben.id] });
  const report = async (by: string) =>
    (await get(`/analytics/report?by=${by}&${march}`, admin.token)).body.data;
  expect((await report("day")).map(({ key, count }: { key: string; count: number }) => [key, count])).toEqual(
    [
      ["2026-03-01", 1],
      ["2026-03-02", 3],
      ["2026-03-05", 1],
    ],
  );
  const [first] = await report("model");
  expect(first).toMatchObject({ key: "a", count: 3, failed: 1, total_tokens: 1030, costs: [], unpriced: 3 });
  expect(first.mean_ms).toBeGreaterThanOrEqual(0);
  const millers = (await report("group")).find(({ key }: { key: string }) => key === group.id);
  expect(millers).toMatchObject({ name: "Millers", count: 1, output_tokens: 500 });
  expect((await report("user")).map(({ name }: { name: string }) => name).toSorted()).toEqual(
    [ann.name, ben.name].toSorted(),
  );
  expect((await get(`/analytics/report?by=day&${march}`, ann.token)).status).toBe(403);
});
