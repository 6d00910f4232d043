import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { secondsUntil } from "#test/support/clock/now.ts";

let app: App;
let me: TestUser;
let other: TestUser;

beforeAll(async () => {
  app = await startApp();
  me = await app.user();
  other = await app.user();
});
afterAll(() => app?.close());

const add = (body: unknown, token: string | undefined = me.token) =>
  app.call("POST /api/v1/previews", { token, body });
const show = (id: string, headers: Record<string, string> = {}) =>
  app.call(`GET /preview/${id}`, { headers });
const html = (content: string) => ({ kind: "html", content });

test("shows a document to whoever knows its id, in a sandbox without an origin", async () => {
  const added = await add(html("<h1>Grüße\u0000</h1>"));
  expect(added.status).toBe(200);
  expect(secondsUntil(added.body.expires_at)).toBeGreaterThan(540);
  expect(added.body.id).toMatch(/^[\w-]{43}$/);
  const { status, text, headers } = await show(added.body.id);
  expect([status, text]).toEqual([200, "<h1>Grüße\u0000</h1>"]);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/^sandbox allow-scripts allow-forms; frame-ancestors 'self'; default-src 'none'/);
  expect(policy).toMatch(/connect-src 'none'/);
  expect(policy).not.toMatch(/allow-same-origin|https?:|\*/);
});

test("gives scripts to no picture", async () => {
  const { body } = await add({ kind: "svg", content: "<svg xmlns='http://www.w3.org/2000/svg'/>" });
  const { headers } = await show(body.id);
  expect(headers.get("content-type")).toBe("image/svg+xml; charset=utf-8");
  expect(headers.get("content-security-policy")).toMatch(/^sandbox; .*default-src 'none'/);
  expect(headers.get("content-security-policy")).not.toMatch(/script/);
});

test("is no page of its own: browsers get it for a frame alone", async () => {
  const { body } = await add(html("x"));
  expect((await show(body.id, { "sec-fetch-dest": "iframe" })).status).toBe(200);
  for (const destination of ["document", "script", "object", "embed", "empty"]) {
    expect((await show(body.id, { "sec-fetch-dest": destination })).status).toBe(403);
  }
});

test("is put down and removed by members alone, each their own", async () => {
  const pending = await app.user("pending");
  expect((await app.call("POST /api/v1/previews", { body: html("x") })).status).toBe(401);
  expect((await add(html("x"), pending.token)).status).toBe(403);
  const { id } = (await add(html("mine"))).body;
  const remove = (token?: string) => app.call(`DELETE /api/v1/previews/${id}`, { token });
  expect((await remove()).status).toBe(401);
  expect((await remove(other.token)).status).toBe(404);
  expect((await remove((await app.admin()).token)).status).toBe(404);
  expect((await show(id)).text).toBe("mine");
  expect((await remove(me.token)).status).toBe(204);
  expect((await show(id)).status).toBe(404);
  expect((await remove(me.token)).status).toBe(404);
});

test("is gone after ten minutes, and swept", async () => {
  const { id } = (await add(html("old"))).body;
  await app.running.database.query("update preview set expires_at = expires_at - 601 where id = $1", [id]);
  expect((await show(id)).status).toBe(404);
  const sweep = app.running.gathered.jobs.find(({ job }) => job.id === "previews.sweep");
  await sweep?.job.run({}, { signal: AbortSignal.timeout(5_000) });
  const { rows } = await app.running.database.query("select 1 from preview where id = $1", [id]);
  expect(rows).toEqual([]);
});

test("keeps the newest ten of a person", async () => {
  const mine = (await add(html("another person's"), other.token)).body.id;
  const ids: string[] = [];
  for (let count = 0; count < 12; count += 1) {
    ids.push((await add(html(`${count}`))).body.id);
    await app.running.database.query("update preview set expires_at = expires_at - 1 where user_id = $1", [
      me.id,
    ]);
  }
  const found = await Promise.all(ids.map(async (id) => (await show(id)).status));
  expect(found).toEqual([404, 404, ...Array.from({ length: 10 }, () => 200)]);
  expect((await show(mine)).status).toBe(200);
});

test.each([
  ["6 MB", html("a".repeat(6_000_000)), 413],
  ["5 MB of quotes", html('"'.repeat(5_000_000)), 200],
  ["5 MB of characters of two bytes", html("ä".repeat(5_000_000)), 413],
  ["another kind", { kind: "xml", content: "x" }, 422],
  ["no content", { kind: "html" }, 422],
])("answers a document of %s", async (_name, body, status) => {
  expect((await add(body)).status).toBe(status);
});

test("lets operators replace what previews of HTML may load, but neither sandbox nor place", async () => {
  const own = "script-src 'unsafe-inline' https://cdn.test;\nsandbox allow-same-origin, frame-ancestors *";
  const loose = await startApp({ env: { IFRAME_CSP: own } });
  const admin = await loose.admin();
  const policyOf = async (kind: string) => {
    const { id } = (await admin.call("POST /api/v1/previews", { kind, content: "x" })).body;
    return (await loose.call(`GET /preview/${id}`)).headers.get("content-security-policy");
  };
  expect(await policyOf("html")).toBe(
    "sandbox allow-scripts allow-forms; frame-ancestors 'self'; script-src 'unsafe-inline' https://cdn.test; sandbox allow-same-origin frame-ancestors *",
  );
  expect(await policyOf("svg")).toMatch(/^sandbox; frame-ancestors 'self'; default-src 'none'/);
  expect((await admin.call("GET /api/config")).body.ui.iframe_csp).toBe(own);
  await loose.close();
});
