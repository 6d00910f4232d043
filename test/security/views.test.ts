import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { nameOf, probe, routesOf } from "#test/support/probe.ts";

let app: App;
beforeAll(async () => {
  app = await startApp({ env: { ENABLE_APPS: "true", ENABLE_CHANNELS: "true" } });
});
afterAll(() => app?.close());

test("an administrator who views an account changes nothing through any route, and reads no secret", async () => {
  const admin = await app.admin();
  const { id } = await app.user();
  const view = await app.call(`POST /api/v1/users/${id}/view`, { token: admin.token });
  const { token } = view.body as { token: string };
  const wrong: string[] = [];
  const refused = routesOf(app).filter(
    ({ route }) =>
      !["public", "token"].includes(route.access) &&
      (route.method !== "GET" || route.changes === true || route.isSecret === true),
  );
  expect(refused.length).toBeGreaterThan(300);
  for (const owned of refused) {
    const { status, text } = await probe(app.url, owned, { token });
    if (status !== 403) {
      wrong.push(`${nameOf(owned)} answers ${status}: ${text.slice(0, 120)}`);
    }
  }
  expect(wrong).toEqual([]);
});
