import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { as, grant, permit, requireOk, weather } from "../tools.fixture.ts";

let app: App;
let admin: TestUser;
/** May write tools; owns `weather`. */
let owner: TestUser;
let reader: TestUser;
/** May write this tool, and has no permission for tools. */
let writer: TestUser;
let stranger: TestUser;

const at = (rest = "", id = "weather") => `/api/v1/tools/id/${id}${rest}`;
const form = { name: "Weather", content: weather };

beforeAll(async () => {
  app = await startApp({
    env: { ENABLE_VALVE_ENCRYPTION: "true", WEBUI_SECRET_KEY: "mJ4x9Q2vTz7LrB1nWc8Kp5Ys3Ef6Hd0A" },
  });
  admin = await app.admin();
  [owner, reader, writer, stranger] = [
    await app.user(),
    await app.user(),
    await app.user(),
    await app.user(),
  ];
  await permit(app, [owner], { workspace: { tools: true }, sharing: { tools: true } });
  const created = { id: "Weather", ...form, access_grants: [grant(reader, "read"), grant(writer, "write")] };
  expect((await requireOk(as(app, owner)("POST /api/v1/tools/create", created))).body).toMatchObject({
    id: "weather",
    user_id: owner.id,
    write_access: true,
    is_usable: true,
    content: weather,
    specs: [{ name: "weather", description: "The weather of a city" }],
    meta: { description: "Tells the weather", has_valves: true, has_user_valves: true },
    access_grants: [{ permission: "read" }, { permission: "write" }],
  });
});
afterAll(() => app?.close());

describe("every role on every route", () => {
  const routes: readonly (readonly [route: string, body: unknown])[] = [
    [`GET ${at()}`, undefined],
    [`GET ${at("/specs")}`, undefined],
    [`GET ${at("/valves/user")}`, undefined],
    [`GET ${at("/valves/user/spec")}`, undefined],
    [`POST ${at("/valves/user/update")}`, { unit: "f" }],
    [`GET ${at("/valves")}`, undefined],
    [`GET ${at("/valves/spec")}`, undefined],
    [`POST ${at("/valves/update")}`, { key: "s3cret" }],
    [`GET ${at("/logs")}`, undefined],
    [`GET ${at("/versions")}`, undefined],
    [`GET ${at("/versions/1")}`, undefined],
    [`POST ${at("/update")}`, form],
    [`POST ${at("/update")}`, { ...form, content: `${weather}\n` }],
    [`POST ${at("/pending/decline")}`, undefined],
    [`POST ${at("/pending/approve")}`, { version_id: "1" }],
    ["GET /api/v1/tools/export", undefined],
    ["POST /api/v1/tools/create", { id: "other", ...form }],
    ["POST /api/v1/tools/check", { content: weather }],
    ["POST /api/v1/tools/try", { content: weather, name: "weather" }],
    ["POST /api/v1/tools/load/url", { url: "ftp://x" }],
  ];
  it.each([
    [
      "reader",
      [200, 404, 200, 200, 200, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403],
    ],
    [
      "writer",
      [200, 404, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 403, 200, 403, 403, 403, 403, 403, 403],
    ],
    [
      "stranger",
      [404, 404, 404, 404, 404, 404, 404, 404, 404, 404, 404, 404, 404, 404, 403, 403, 403, 403, 403, 403],
    ],
    [
      "owner",
      [200, 404, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 403, 403, 200, 200, 200, 403],
    ],
    [
      "admin",
      [200, 404, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 409, 200, 409, 200, 200, 400],
    ],
  ] as const)("%s", async (who, expected) => {
    const call = as(app, { reader, writer, stranger, owner, admin }[who]);
    const statuses: [string, number][] = [];
    for (const [route, body] of routes) {
      statuses.push([route, (await call(route, body)).status]);
    }
    expect(statuses).toEqual(routes.map(([route], index) => [route, expected[index]]));
  });

  it("needs a sign-in", async () => {
    for (const [route, body] of routes) {
      expect([route, (await app.call(route, { body })).status]).toEqual([route, 401]);
    }
  });
});

it("shows readers what a tool does, and neither its code nor its valves", async () => {
  const call = as(app, reader);
  const { body: tool } = await requireOk(call(`GET ${at()}`));
  expect(tool).toMatchObject({ write_access: false, access_grants: [], specs: [{ name: "weather" }] });
  expect(tool).not.toHaveProperty("content");
  for (const route of ["GET /api/v1/tools/", "GET /api/v1/tools/list"]) {
    const { body: items, text } = await requireOk(call(route));
    expect(items).toMatchObject([{ id: "weather", name: "Weather", write_access: false }]);
    expect(text).not.toMatch(/s3cret|run\(|content/);
  }
  expect((await requireOk(as(app, stranger)("GET /api/v1/tools/"))).body).toEqual([]);
  const preview = await requireOk(as(app, admin)(`GET /api/v1/users/${reader.id}/preview`));
  expect(preview.body.tools).toEqual([{ id: "weather", name: "Weather" }]);
  const why = await requireOk(
    as(app, admin)(`GET /api/v1/users/${reader.id}/access?kind=tool&resource_id=weather`),
  );
  expect(why.body).toMatchObject({ may_read: true, may_write: false });
});

it("keeps valves sealed, each person's own apart, and takes what fits only", async () => {
  const call = as(app, owner);
  await requireOk(call(`POST ${at("/valves/update")}`, { key: "s3cret" }));
  expect((await requireOk(call(`GET ${at("/valves")}`))).body).toEqual({ key: "s3cret" });
  expect((await call(`POST ${at("/valves/update")}`, { key: 3 })).body.detail).toMatch(/^key: /);
  await requireOk(call(`POST ${at("/valves/user/update")}`, { unit: "f" }));
  expect((await requireOk(as(app, writer)(`GET ${at("/valves/user")}`))).body).toEqual({ unit: "f" });
  const bad = await call(`POST ${at("/valves/user/update")}`, { unit: "k" });
  expect([bad.status, bad.body.detail]).toEqual([400, expect.stringMatching(/^unit: /)]);
  const exported = await requireOk(as(app, admin)("GET /api/v1/tools/export"));
  expect(exported.text).not.toContain("s3cret");
  expect(exported.body).toContainEqual(
    expect.objectContaining({ id: "weather", content: expect.stringContaining("tools") }),
  );
});

it("refuses bad code with its place and changes nothing, and overtaken changes", async () => {
  const call = as(app, owner);
  const before = (await requireOk(call(`GET ${at()}`))).body;
  const broken = await call(`POST ${at("/update")}`, { ...form, content: "export const tools = {\n  a: }" });
  expect([broken.status, broken.body.detail]).toEqual([400, expect.stringMatching(/line 2, column \d+/)]);
  const none = await call(`POST ${at("/update")}`, { ...form, content: "export const x = 1" });
  expect([none.status, none.body.detail]).toEqual([400, expect.stringContaining("neither")]);
  const late = await call(`POST ${at("/update")}`, { ...form, version_id: "0" });
  expect([late.status, late.body.detail]).toEqual([409, expect.stringContaining("since you opened")]);
  expect((await requireOk(call(`GET ${at()}`))).body).toEqual(before);
  for (const [id, status] of [
    ["1st", 400],
    ["a b", 400],
    ["weather", 409],
  ] as const) {
    expect((await call("POST /api/v1/tools/create", { id, ...form })).status).toBe(status);
  }
  const long = await call("POST /api/v1/tools/create", { id: "x", name: "", content: 1 });
  expect([long.status, long.text]).toEqual([422, expect.stringMatching(/name.*content/s)]);
});

it("keeps versions, and restores one", async () => {
  const call = as(app, owner);
  await requireOk(
    call(`POST ${at("/update")}`, { ...form, content: weather.replace("of a city", "of a town") }),
  );
  const { body: versions } = await requireOk(call(`GET ${at("/versions")}`));
  expect(versions[0]).toMatchObject({ is_current: true, user: { id: owner.id } });
  const { body: restored } = await requireOk(call(`POST ${at("/versions/1/restore")}`));
  expect(restored).toMatchObject({ content: weather, version_id: String(versions[0].version + 1) });
  expect((await call(`GET ${at("/versions/999")}`)).status).toBe(404);
});

it("asks an administrator before code may reach outside (D.40)", async () => {
  const call = as(app, owner);
  const reaching = `export const meta = { capabilities: { fetch: ["a.test"], storage: true } };\n${weather}`;
  const asked = await requireOk(
    call("POST /api/v1/tools/create", { id: "reach", name: "Reach", content: reaching }),
  );
  expect(asked.body).toMatchObject({ is_usable: false, pending: { reasons: ["fetch: a.test"] } });
  const ids = async () =>
    (await requireOk(call("GET /api/v1/tools/"))).body.map(({ id }: { id: string }) => id);
  expect(await ids()).not.toContain("reach");
  const approve = (version_id: string) =>
    as(app, admin)(`POST ${at("/pending/approve", "reach")}`, { version_id });
  expect((await approve("7")).status).toBe(409);
  expect((await requireOk(approve("1"))).body).toMatchObject({ is_usable: true, pending: null });
  expect(await ids()).toContain("reach");
  // More than was agreed to waits again; less does not.
  const wider = reaching.replace('"a.test"', '"a.test", "b.test"');
  const change = (content: string) => call(`POST ${at("/update", "reach")}`, { name: "Reach", content });
  expect((await requireOk(change(wider))).body).toMatchObject({
    is_usable: false,
    pending: { reasons: ["fetch: b.test"] },
  });
  expect((await requireOk(call(`POST ${at("/pending/decline", "reach")}`))).body).toMatchObject({
    is_usable: false,
    pending: null,
  });
  expect((await requireOk(change(weather))).body).toMatchObject({ is_usable: true, pending: null });
  await requireOk(call(`DELETE ${at("/delete", "reach")}`));
  expect((await call(`GET ${at("", "reach")}`)).status).toBe(404);
});

it("shares with those the caller may share with, imports with its own permission, and loads code for admins", async () => {
  const importer = await app.user();
  await permit(app, [importer], { workspace: { tools_import: true, tools_export: true } });
  const everybody = { ...grant({ id: "*" }, "read") };
  const made = await requireOk(
    as(app, importer)("POST /api/v1/tools/create", { id: "mine", ...form, access_grants: [everybody] }),
  );
  expect(made.body.access_grants).toEqual([]);
  expect((await requireOk(as(app, importer)("GET /api/v1/tools/export"))).body).toMatchObject([
    { id: "mine" },
  ]);
  const share = { access_grants: [everybody] };
  const shared = await requireOk(as(app, admin)(`POST ${at("/access/update", "mine")}`, share));
  expect(shared.body.access_grants).toMatchObject([{ principal_id: "*", permission: "read" }]);
  expect((await requireOk(as(app, stranger)("GET /api/v1/tools/"))).body).toMatchObject([{ id: "mine" }]);
  const files = createServer((_request, response) => response.end(weather)).listen(0, "127.0.0.1");
  await once(files, "listening");
  const { port } = files.address() as AddressInfo;
  try {
    const load = await requireOk(
      as(app, admin)("POST /api/v1/tools/load/url", { url: `http://127.0.0.1:${port}/weather.js` }),
    );
    expect(load.body).toEqual({ name: "weather", content: weather });
  } finally {
    files.close();
  }
});

it("tries unsaved code: what the model would read, the log, and where it failed", async () => {
  const call = as(app, owner);
  const content = `/** Draws. @param {number} size */
export function draw(size, { host }) {
  console.log("size", size);
  if (size > 9) throw new Error("too big");
  return { html: "<b>" + size + "</b>", context: "drawn", files: [{ name: "a.txt", text: "hi" }] };
}`;
  const { body: check } = await requireOk(call("POST /api/v1/tools/check", { content }));
  expect(check).toMatchObject({ error: null, specs: [{ name: "draw", parallel: false }] });
  const attempt = async (size: number) =>
    (await requireOk(call("POST /api/v1/tools/try", { content, name: "draw", parameters: { size } }))).body;
  expect(await attempt(3)).toMatchObject({
    text: "drawn",
    embeds: ["<b>3</b>"],
    files: [{ name: "a.txt", content_type: "text/plain", data: "aGk=" }],
    log: [{ text: "size 3" }],
    error: null,
  });
  expect(await attempt(10)).toMatchObject({ text: null, error: { message: "too big", line: 4 } });
});

it("is gone where the code of people is switched off, and servers stay", async () => {
  const off = await startApp({ env: { ENABLE_PLUGINS: "false" } });
  try {
    const boss = await off.admin();
    expect((await boss.call("GET /api/v1/tools/")).body).toEqual([]);
    for (const [route, status] of [
      ["GET /api/v1/tools/list", 403],
      ["GET /api/v1/tools/id/a", 403],
      ["GET /api/v1/tools/id/a/specs", 404],
    ] as const) {
      expect([route, (await boss.call(route)).status]).toEqual([route, status]);
    }
  } finally {
    await off.close();
  }
});
