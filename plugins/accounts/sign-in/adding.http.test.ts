import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
beforeAll(async () => {
  app = await useApp();
});
afterAll(() => app?.close());

it("is for admins; a session begins only when the person signs in", async () => {
  const admin = await app.admin();
  const body = { name: "Added", email: "added@example.test", password: "Correct-horse-1" };
  const added = await admin.call("POST /api/v1/auths/add", body);
  expect(added.body).toMatchObject({ role: "pending", token: "", token_type: "Bearer", name: "Added" });
  expect(added.headers.getSetCookie()).toEqual([]);
  const account = async () => (await admin.call(`GET /api/v1/users/${added.body.id}`)).body;
  const sessions = async () => (await admin.call(`GET /api/v1/users/${added.body.id}/sessions`)).body;
  expect(await sessions()).toEqual([]);
  expect(await account()).toMatchObject({ is_active: false, last_active_at: 0 });
  expect((await app.call("POST /api/v1/auths/signin", { body })).status).toBe(200);
  expect(await sessions()).toHaveLength(1);
  expect(await account()).toMatchObject({ is_active: true });
  expect((await admin.call("POST /api/v1/auths/add", body)).status).toBe(409);
  const user = await app.user();
  expect((await user.call("POST /api/v1/auths/add", body)).status).toBe(403);
  expect((await app.call("POST /api/v1/auths/add", { body })).status).toBe(401);
});
