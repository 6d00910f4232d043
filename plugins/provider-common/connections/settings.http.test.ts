import { expect, it } from "vitest";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";

let app: App;
let admin: TestUser;

setUp(async (keep) => {
  ({ app } = await keep(
    useAppWithUpstream({ models: ["m"], connection: {}, env: { ENABLE_OPENAI_API: "true" } }),
  ));
  admin = await app.admin();
});

const route = "/api/v1/configs/connections";
const off = { ENABLE_DIRECT_CONNECTIONS: false, ENABLE_BASE_MODELS_CACHE: false };

it("administrators read and change what holds for all connections, one by one", async () => {
  expect((await admin.call(`GET ${route}`)).body).toEqual(off);
  const direct = await admin.call(`POST ${route}`, { ENABLE_DIRECT_CONNECTIONS: true });
  expect(direct.body).toEqual({ ...off, ENABLE_DIRECT_CONNECTIONS: true });
  expect((await admin.call("GET /api/config")).body.features.enable_direct_connections).toBe(true);
  await admin.call(`POST ${route}`, { ENABLE_BASE_MODELS_CACHE: true });
  expect((await admin.call(`GET ${route}`)).body).toEqual({
    ENABLE_DIRECT_CONNECTIONS: true,
    ENABLE_BASE_MODELS_CACHE: true,
  });
  await admin.call(`POST ${route}`, off);
});

it("nobody else does", async () => {
  const { token } = await app.user();
  for (const method of ["GET", "POST"]) {
    expect(
      (await app.call(`${method} ${route}`, { token, ...(method === "POST" && { body: {} }) })).status,
    ).toBe(403);
  }
});

it("nonsense is refused by its field", async () => {
  const answer = await admin.call(`POST ${route}`, { ENABLE_BASE_MODELS_CACHE: "often" });
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["body", "ENABLE_BASE_MODELS_CACHE"]]);
});
