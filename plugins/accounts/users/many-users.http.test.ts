import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

const many = 10_000;
let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await startApp();
  admin = await app.admin();
  await app.running.database.query(
    `insert into "user" (id, email, name, role, profile_image_url, last_active_at, created_at, updated_at, session_stamp)
     select 'u' || n, 'miller' || n || '@mill.test', 'Miller ' || n, 'user', '/user.png', n, n, n, 's'
     from generate_series(1, ${many}) as n`,
  );
});

afterAll(() => app?.close());

async function ask(query: string) {
  const started = performance.now();
  const { body } = await admin.call(`GET /api/v1/users?${query}`);
  return { ...body, ms: performance.now() - started };
}

test("pages, sorts and searches 10,000 accounts, each page within 200 ms", async () => {
  const queries = [
    "page=1",
    "order_by=name&direction=asc&page=170",
    "order_by=last_active_at&direction=desc&page=333",
    "query=miller99&order_by=email&direction=asc",
  ];
  for (const query of queries) {
    // The best of several: other work of the machine is not what is measured.
    let best = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < 20 && best >= 200; turn += 1) {
      best = Math.min(best, (await ask(query)).ms);
    }
    expect(best, query).toBeLessThan(200);
  }
  expect((await ask("page=1")).total).toBe(many + 1);
  expect((await ask("query=miller99&order_by=email")).total).toBe(111);
  const last = await ask("order_by=created_at&direction=asc&page=334");
  expect(last.users).toHaveLength(11);
  expect(last.users.at(-1).name).toBe(admin.name);
});
