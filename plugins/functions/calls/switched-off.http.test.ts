import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { addFunction } from "../functions.fixture.ts";

let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await startApp({ env: { ENABLE_PLUGINS: "false" } });
  admin = await app.admin();
});

afterAll(() => app.close());

it("without ENABLE_PLUGINS there are no functions at all", async () => {
  await expect(addFunction(app, "any", `export function pipe() {}`)).rejects.toThrow("403");
  const routes = ["GET /api/v1/functions/", "GET /api/v1/functions/export", "POST /api/chat/actions/any"];
  for (const route of routes) {
    expect((await admin.call(route)).status).toBe(403);
  }
  const { body } = await admin.call("GET /api/models");
  expect(body.data).toMatchObject([{ id: "guide", actions: [], filters: [] }]);
  expect((await admin.call("GET /api/config")).body.features.enable_plugins).toBe(false);
});
