import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = ["m"];
  app = await startApp({ env: { OPENAI_API_BASE_URLS: upstream.url, ENABLE_OPENAI_API: "true" } });
  admin = await app.admin();
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

const route = "/api/v1/configs/connections";
const off = { ENABLE_DIRECT_CONNECTIONS: false, ENABLE_BASE_MODELS_CACHE: false };

it("administrators read and change what holds for all connections, one by one", async () => {
  const { token } = admin;
  expect((await app.call(`GET ${route}`, { token })).body).toEqual(off);
  const direct = await app.call(`POST ${route}`, { token, body: { ENABLE_DIRECT_CONNECTIONS: true } });
  expect(direct.body).toEqual({ ...off, ENABLE_DIRECT_CONNECTIONS: true });
  expect((await app.call("GET /api/config", { token })).body.features.enable_direct_connections).toBe(true);
  await app.call(`POST ${route}`, { token, body: { ENABLE_BASE_MODELS_CACHE: true } });
  expect((await app.call(`GET ${route}`, { token })).body).toEqual({
    ENABLE_DIRECT_CONNECTIONS: true,
    ENABLE_BASE_MODELS_CACHE: true,
  });
  await app.call(`POST ${route}`, { token, body: off });
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
  const answer = await app.call(`POST ${route}`, {
    token: admin.token,
    body: { ENABLE_BASE_MODELS_CACHE: "often" },
  });
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["body", "ENABLE_BASE_MODELS_CACHE"]]);
});
