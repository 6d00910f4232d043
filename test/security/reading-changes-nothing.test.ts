import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwnedRoute } from "#kernel/http/bind.ts";
import { readTables } from "#test/database/read-tables.ts";
import { testServer } from "#storage/testing.ts";
import { type App, startApp } from "#test/support/app.ts";
import { nameOf, routesOf, toUrlPath, unknownId } from "#test/support/probe.ts";

let app: App;
let url: string;

beforeAll(async () => {
  app = await startApp({ env: { ENABLE_CHANNELS: "true" } });
  const { rows } = await app.running.database.query("select current_database() as name");
  url = new URL(`/${rows[0].name}`, testServer()).href;
});
afterAll(() => app?.close());

/** Routes that are called between two looks at the tables. */
const few = 20;

const unharmed = [
  // What jobs and the presence of people change meanwhile, whatever is asked.
  /^jobs\./,
  /^public\.("user"|account_session|chat_run_owner|usage_\w+)$/,
  // The log of a provider's calls, refused ones included.
  /^public\.scim_call/,
  // Made at the first look, once: the key of web push, and the own calendar of an account.
  /^public\.(push_key|calendar)$/,
];

test("a link of another site changes nothing, whatever it reads with the cookie of an administrator", async () => {
  const admin = await app.admin();
  const person = await app.user();
  const cookie = `token=${(await app.user("admin")).token}`;
  const readings = routesOf(app).filter(({ route }) => route.method === "GET");
  expect(readings.length).toBeGreaterThan(100);
  const follow = async (owned: OwnedRoute) => {
    const abort = new AbortController();
    await fetch(app.url + toUrlPath(owned, { user_id: person.id, id: unknownId }), {
      headers: { cookie, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
      redirect: "manual",
      signal: abort.signal,
    });
    // Some answers never end.
    abort.abort();
  };
  const changed: string[] = [];
  let before = await readTables(url);
  for (let at = 0; at < readings.length; at += few) {
    const some = readings.slice(at, at + few);
    await Promise.all(some.map(follow));
    const after = await readTables(url);
    const tables = Object.keys(after).filter(
      (name) => !unharmed.some((one) => one.test(name)) && after[name]!.hash !== before[name]?.hash,
    );
    if (tables.length > 0) {
      changed.push(`${tables.join(", ")} by one of ${some.map(nameOf).join(", ")}`);
    }
    before = after;
  }
  expect(changed).toEqual([]);
  expect((await admin.call("GET /api/v1/auths/")).status).toBe(200);
});
