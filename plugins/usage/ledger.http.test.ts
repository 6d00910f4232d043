import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { toRecord } from "./record.ts";
import { insertBatch } from "./store.ts";
import type { UsageDatabase } from "./tables.ts";
import { called, noon, toCall, witness, writeWaiting, written } from "./usage.fixture.ts";

let app: App;
let admin: TestUser;
let ann: TestUser;

beforeAll(async () => {
  app = await startApp({ plugins: [witness], env: { USAGE_RECORD_BUFFER_SIZE: "700" } });
  [admin, ann] = [await app.admin(), await app.user()];
});
afterAll(() => app.close());

it("writes what can be stored of records that cannot", async () => {
  called({ by: ann.id, at: noon("2026-04-02"), model: "b\0\ud800", chatId: "c\0", tools: ["\0"] });
  called({ by: ann.id, at: noon("2026-04-02") });
  expect(await written(app)).toEqual({ records: 2, calls: 2 });
});

it("writes names as they are, whatever signs they have", async () => {
  const odd = ['a"b', "c\\d", "{e,f}", "NULL", " ", "", "ü\n"];
  called({ by: ann.id, at: noon("2026-04-03"), model: odd.join("|"), chatId: "NULL", tools: odd });
  const calls = async () =>
    (
      await app.call("GET /api/v1/analytics/messages?start_date=2026-04-03&end_date=2026-04-03", {
        token: admin.token,
      })
    ).body;
  expect(await calls()).toMatchObject([
    { model_id: odd.join("|"), chat_id: "NULL", tools: odd, user_id: ann.id },
  ]);
});

it("counts a batch once, however often it is written", async () => {
  const before = await written(app);
  const db = app.running.database.db as unknown as UsageDatabase;
  const record = toRecord(toCall({ by: ann.id, at: noon("2026-04-04") }));
  const batch = { id: randomUUID(), records: [record, record] };
  await insertBatch(db, batch);
  await insertBatch(db, batch);
  expect(await written(app)).toEqual({ records: before.records + 2, calls: before.calls + 2 });
});

it("keeps records while the database takes none, up to its bound, and writes each once", async () => {
  const before = await written(app);
  const { db } = app.running.database;
  await sql`alter table usage_day rename to usage_day_away`.execute(db);
  for (let n = 0; n < 900; n++) {
    called({ by: ann.id, at: noon("2026-05-01") });
  }
  // Two tries that fail.
  await writeWaiting(app);
  await writeWaiting(app);
  await sql`alter table usage_day_away rename to usage_day`.execute(db);
  expect(await written(app)).toEqual({ records: before.records + 700, calls: before.calls + 700 });
});

it("keeps the sums of accounts that are gone, without their names", async () => {
  const gone = await app.user();
  called({ by: gone.id, at: noon("2026-06-01"), input: 7, output: 0 });
  const count = async () =>
    (
      await app.call("GET /api/v1/analytics/summary?start_date=2026-06-01&end_date=2026-06-01", {
        token: admin.token,
      })
    ).body;
  expect((await count()).total_messages).toBe(1);
  expect((await app.call(`DELETE /api/v1/users/${gone.id}`, { token: admin.token })).status).toBe(200);
  // Written after the account has gone.
  called({ by: gone.id, at: noon("2026-06-01"), input: 7, output: 0 });
  expect((await count()).total_messages).toBe(2);
  const users = await app.call("GET /api/v1/analytics/users?start_date=2026-06-01&end_date=2026-06-01", {
    token: admin.token,
  });
  expect(users.body.users).toMatchObject([{ user_id: null, name: null, count: 2, total_tokens: 14 }]);
  // Together with somebody who is there.
  called({ by: gone.id, at: noon("2026-06-01"), input: 7, output: 0 });
  called({ by: ann.id, at: noon("2026-06-01"), input: 7, output: 0 });
  expect((await count()).total_messages).toBe(4);
  const calls = await app.call("GET /api/v1/analytics/messages?start_date=2026-06-01&end_date=2026-06-01", {
    token: admin.token,
  });
  expect(calls.body.map(({ user_id: id }: { user_id: string | null }) => id).toSorted()).toEqual([
    ann.id,
    null,
    null,
    null,
  ]);
});

it("writes what waits when it stops, and forgets old calls but not their days", async () => {
  const other = await startApp({ plugins: [witness], env: { USAGE_RECORD_RETENTION_DAYS: "30" } });
  const { id, token } = await other.admin();
  const listed = async () =>
    (await other.call("GET /api/v1/analytics/messages?days=60", { token })).body.length;
  called({ by: id, at: Date.now() });
  expect(await listed()).toBe(1);
  called({ by: id, at: Date.now() - 40 * 86_400_000 });
  const retention = other.running.gathered.jobs.find(({ job }) => job.id === "usage.retention");
  expect(await listed()).toBe(2);
  await retention!.job.run(undefined, { signal: new AbortController().signal });
  expect(await listed()).toBe(1);
  expect((await other.call("GET /api/v1/users/usage?days=60", { token })).body.totals.count).toBe(2);
  called({ by: id, at: Date.now() });
  const closing = other.running.database;
  const stopped = Promise.withResolvers<unknown>();
  const close = closing.close.bind(closing);
  Object.assign(closing, {
    close: async () => {
      const { rows } = await sql<{
        count: number;
      }>`select coalesce(sum(calls), 0)::bigint as count from usage_batch`.execute(closing.db);
      stopped.resolve(rows[0]?.count);
      await close();
    },
  });
  await other.close();
  expect(await Promise.race([stopped.promise, "never closed"])).toBe(2);
});
