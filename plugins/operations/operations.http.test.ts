import { afterAll, beforeAll, expect, test } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { secondsUntil } from "#test/support/clock/now.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";

let folder: string;
let app: App;
let admin: TestUser;
let runs = 0;

const fault = defineRoute({ method: "GET", path: "/brook/:id", summary: "Fail", access: "user" }, () => {
  throw new Error("the brook ran dry at postgres://mill:river-key@db/mill");
});
const brook = definePlugin({
  id: "brook",
  title: "Brook",
  summary: "Runs dry.",
  setup: () => ({
    routes: { api: [fault] },
    jobs: [
      { id: "brook.sweep", every: 3600, run: async () => void (runs += 1) },
      {
        id: "brook.dry",
        every: 3600,
        run: async () => {
          throw new Error("no water for Bearer abcdefghijklmn");
        },
      },
      { id: "brook.queued", run: async () => undefined },
    ],
  }),
});

beforeAll(async () => {
  folder = await createTestFolder({
    "late/plugin.js": `export default { id: "late", title: "Late", setup: () => ({ start() { throw new Error("no wind"); } }) };`,
    "garbled/plugin.js": "export default {",
    "gate/plugin.js": `export default { id: "gate", title: "Gate", provides: [{ kind: "service", id: "authenticator" }], setup: () => ({}) };`,
  });
  app = await startApp({ env: { PLUGINS_PATH: folder, PLUGINS_DISABLED: "feedback" }, plugins: [brook] });
  admin = await app.admin();
});

afterAll(async () => {
  await app?.close();
  await removeTestFolder(folder);
});

const get = async (path: string) => (await admin.call(`GET /api/v1/operations/${path}`)).body;

test("every plugin tells what it brings, and those left out tell why", async () => {
  const { plugins, services, disabled, path } = await get("plugins");
  const find = (id: string) => plugins.find((plugin: { id: string }) => plugin.id === id);
  expect([disabled, path]).toEqual([["feedback"], folder]);
  expect(find("brook")).toMatchObject({
    state: "on",
    summary: "Runs dry.",
    folder: null,
    jobs: ["brook.sweep", "brook.dry", "brook.queued"],
    routes: [{ method: "GET", path: "/api/v1/brook/:id", access: "user", summary: "Fail" }],
  });
  expect(find("folders")).toMatchObject({
    state: "on",
    switch: { variable: "ENABLE_FOLDERS", live: true, value: true },
    tables: expect.arrayContaining(["folder"]),
    permissions: expect.arrayContaining(["features.folders"]),
  });
  expect(find("feedback")).toMatchObject({ state: "disabled", reason: null, routes: [] });
  expect(find("late")).toMatchObject({ state: "broken", reason: expect.stringContaining("no wind") });
  expect(find("garbled")).toMatchObject({
    state: "broken",
    reason: expect.stringContaining("could not be loaded"),
  });
  expect(find("gate").reason).toContain("it provides the service authenticator, as accounts does");
  const authenticator = services.find(({ id }: { id: string }) => id === "authenticator");
  expect(authenticator).toMatchObject({ provider: "accounts", candidates: ["gate"] });
});

test("a plugin with a switch follows it at once", async () => {
  const set = (on: boolean) => admin.call("POST /api/v1/configs/settings", { ENABLE_FOLDERS: on });
  await set(false);
  const { plugins } = await get("plugins");
  expect(plugins.find(({ id }: { id: string }) => id === "folders")).toMatchObject({
    state: "off",
    switch: { value: false },
  });
  await set(true);
});

test("jobs tell their runs and their failures, and run when they are told to", async () => {
  const job = async (id: string) => (await get("jobs")).data.find((one: { id: string }) => one.id === id);
  const run = (id: string) => admin.call("POST /api/v1/operations/jobs/run", { id });
  const fresh = await job("brook.sweep");
  expect(fresh).toMatchObject({ plugin: "brook", every: 3600, last_run_at: null, failed: 0 });
  expect(secondsUntil(fresh.next_run_at)).toBeGreaterThan(0);
  expect((await run("brook.sweep")).body).toEqual({ status: true });
  await expect.poll(() => runs, { timeout: 10_000 }).toBe(1);
  await expect.poll(async () => (await job("brook.sweep")).last_state, { timeout: 10_000 }).toBe("completed");
  const { body: audited } = await admin.call("GET /api/v1/audit?action=job.started");
  expect(JSON.stringify(audited)).toContain("brook.sweep");
  await run("brook.dry");
  await expect.poll(async () => (await job("brook.dry")).failed, { timeout: 10_000 }).toBe(1);
  const dry = await job("brook.dry");
  expect(dry.last_error).toContain("no water");
  expect(dry.last_error).not.toContain("abcdefghijklmn");
  expect([(await run("brook.queued")).status, (await run("nothing")).status]).toEqual([400, 404]);
});

test("each part is used once and every replica answers the roll", async () => {
  const health = await get("health");
  expect(health.components.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
    ["database", "working"],
    ["blobs", "working"],
    ["bus", "working"],
    ["checks", "working"],
  ]);
  for (const { history } of health.components) {
    expect(history.at(-1)).toEqual({ at: expect.any(Number), latency_ms: expect.any(Number) });
  }
  expect(health.disk.free_bytes).toBeGreaterThan(0);
  expect(health).toMatchObject({ backup: null, upstreams: [] });
  expect(health.replicas).toMatchObject([{ is_this: true, node: process.version }]);
  expect(health.versions.database).toMatch(/^\d+/);
  expect(health.database_bytes).toBeGreaterThan(0);
});

test("a failure is found again by the id of its request, without secrets", async () => {
  const failed = await admin.call("GET /api/v1/brook/secret-name", undefined, { "x-request-id": "brook-1" });
  expect(failed.status).toBe(500);
  const { data } = await get("errors?request_id=brook-1");
  expect(data).toMatchObject([
    { request_id: "brook-1", plugin: "brook", method: "GET", path: "/api/v1/brook/:id", status: 500 },
  ]);
  expect(data[0].cause).toContain("the brook ran dry");
  expect(JSON.stringify(data)).not.toMatch(/river-key|secret-name/);
  expect((await get("errors?request_id=other")).data).toEqual([]);
});

test("nobody but administrators sees any of it", async () => {
  const user = await app.user();
  for (const path of ["plugins", "jobs", "health", "errors"]) {
    expect((await user.call(`GET /api/v1/operations/${path}`)).status).toBe(403);
  }
});
