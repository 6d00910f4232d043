import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { addFunction, require } from "../functions.fixture.ts";

let app: App;
let admin: TestUser;
let author: TestUser;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
  author = await app.user();
  const { body } = await require(
    admin.call("POST /api/v1/groups/create", { name: "Authors", description: "" }),
  );
  const permissions = { workspace: { functions: true } };
  const change = { name: "Authors", description: "", permissions };
  await require(admin.call(`POST /api/v1/groups/id/${body.id}/update`, change));
  const people = { user_ids: [author.id] };
  await require(admin.call(`POST /api/v1/groups/id/${body.id}/users/add`, people));
});

afterAll(() => app?.close());

const as = (user: TestUser) => (route: string, body?: unknown) =>
  app.call(route, { token: user.token, ...(body === undefined ? {} : { body }) });
const at = (rest: string, id = "own") => `/api/v1/functions/id/${id}${rest}`;
const plain = `export function inlet(body) { return body; }`;
const reaching = `export const meta = { capabilities: { fetch: ["a.test"] } };\n${plain}`;

it("an author writes functions of their own, and sees no others", async () => {
  const call = as(author);
  await addFunction(app, "foreign", plain);
  const form = { id: "own", name: "Own", content: plain };
  await require(call("POST /api/v1/functions/create", form));
  expect(
    (await require(call("GET /api/v1/functions/list"))).body.map(({ id }: { id: string }) => id),
  ).toEqual(["own"]);
  expect((await require(as(admin)("GET /api/v1/functions/list"))).body).toHaveLength(2);
  for (const route of [
    `GET ${at("", "foreign")}`,
    `GET ${at("/logs", "foreign")}`,
    `GET ${at("/versions", "foreign")}`,
    `GET ${at("/versions/1", "foreign")}`,
    `GET ${at("/valves", "foreign")}`,
    `GET ${at("/samples", "foreign")}`,
    `POST ${at("/toggle", "foreign")}`,
    `POST ${at("/pending/decline", "foreign")}`,
    `DELETE ${at("/delete", "foreign")}`,
  ]) {
    expect([route, (await call(route)).status]).toEqual([route, 404]);
  }
  expect((await call(`POST ${at("/update", "foreign")}`, form)).status).toBe(404);
  expect((await call("GET /api/v1/functions/export")).status).toBe(403);
  expect((await call("POST /api/v1/functions/sync", { functions: [] })).status).toBe(403);
  expect((await as(await app.user())("GET /api/v1/functions/list")).status).toBe(403);
});

it("what stays inside is switched on at once; all models wait for an administrator", async () => {
  const call = as(author);
  expect((await require(call(`POST ${at("/toggle")}`))).body).toMatchObject({
    is_active: true,
    pending: null,
  });
  const { body } = await require(call(`POST ${at("/toggle/global")}`));
  expect(body).toMatchObject({ is_global: false, pending: { global: true } });
  expect((await call(`POST ${at("/pending/approve")}`, { version_id: "1" })).status).toBe(403);
  const stale = await as(admin)(`POST ${at("/pending/approve")}`, { version_id: "7" });
  expect([stale.status, stale.body.detail]).toEqual([409, expect.stringContaining("has changed")]);
  const done = await require(as(admin)(`POST ${at("/pending/approve")}`, { version_id: "1" }));
  expect(done.body).toMatchObject({ is_active: true, is_global: true, pending: null });
  expect((await require(call(`POST ${at("/toggle/global")}`))).body.is_global).toBe(false);
});

it("code that reaches further waits, too, and a yes holds for what was seen", async () => {
  const call = as(author);
  const changed = await require(call(`POST ${at("/update")}`, { name: "Own", content: reaching }));
  expect(changed.body).toMatchObject({ is_active: false, error: expect.stringContaining("fetch: a.test") });
  expect((await require(call(`POST ${at("/toggle")}`))).body).toMatchObject({
    is_active: false,
    pending: { active: true, reasons: ["fetch: a.test"] },
  });
  expect((await require(call(`POST ${at("/pending/decline")}`))).body.pending).toBeNull();
  await require(call(`POST ${at("/toggle")}`));
  const done = await require(as(admin)(`POST ${at("/pending/approve")}`, { version_id: "2" }));
  expect(done.body).toMatchObject({ is_active: true, error: null, pending: null });
  // Off and on again needs no second yes.
  await require(call(`POST ${at("/toggle")}`));
  expect((await require(call(`POST ${at("/toggle")}`))).body).toMatchObject({
    is_active: true,
    pending: null,
  });
  const event = { id: "listener", name: "Listener", content: "export const event = () => 1;" };
  await require(call("POST /api/v1/functions/create", event));
  expect((await require(call(`POST ${at("/toggle", "listener")}`))).body).toMatchObject({
    is_active: false,
    pending: { active: true, reasons: ["event"] },
  });
});

it("code is checked while it is typed, and samples run against it", async () => {
  const call = as(author);
  const check = async (content: string) =>
    (await require(call("POST /api/v1/functions/check", { content }))).body;
  expect(await check(reaching)).toMatchObject({
    type: "filter",
    hooks: ["inlet"],
    capabilities: { fetch: ["a.test"] },
    error: null,
  });
  expect(await check("export function inlet( {")).toMatchObject({ type: null, error: { line: 1 } });
  const content = `export const meta = { capabilities: { storage: true } };
    export async function inlet(body, { host }) {
      await host.storage.set("seen", 1);
      await host.fetch("https://a.test/").catch(() => undefined);
      return { ...body, seen: await host.storage.get("seen") };
    }`;
  const run = { content, hook: "inlet", body: { messages: [] } };
  const tried = (await require(call("POST /api/v1/functions/dry-run", run))).body;
  expect(tried).toMatchObject({
    result: { messages: [], seen: 1 },
    calls: [
      { name: "storage.set", about: "seen", error: null },
      { name: "fetch", about: "https://a.test/", error: expect.stringContaining("did not declare") },
      { name: "storage.get" },
    ],
  });

  const sample = { name: "Stays", hook: "inlet", body: { messages: [] }, expected: { messages: [] } };
  const { body: added } = await require(call(`POST ${at("/samples")}`, sample));
  expect((await require(call(`GET ${at("/samples")}`))).body).toEqual([added]);
  const runs = async (body: object) => (await require(call(`POST ${at("/samples/run")}`, body))).body;
  expect(await runs({})).toMatchObject([{ name: "Stays", passed: true }]);
  expect(await runs({ content })).toMatchObject([{ passed: false, result: { seen: 1 } }]);
  expect(await runs({ content: "export {" })).toMatchObject([{ passed: false, error: { kind: "syntax" } }]);
  await require(call(`DELETE ${at(`/samples/${added.id}`)}`));
  expect((await call(`DELETE ${at(`/samples/${added.id}`)}`)).status).toBe(404);
});
