import { beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { addFunction, addHostAction, require, runAction } from "../functions.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  upstream = await keep(startUpstream());
  const env = { FUNCTION_STORAGE_MAX_BYTES: "2000", EGRESS_ALLOWED_PRIVATE_ORIGINS: upstream.origin };
  app = await keep(startApp({ env }));
  admin = await app.admin();
});
beforeEach(async () => {
  await require(admin.call("POST /api/v1/functions/sync", { functions: [] }));
});

const call = (route: string, body?: unknown, { token } = admin) => app.call(route, { token, body });

describe("what a function may send to clients", () => {
  it.each([
    [`host.emit({ type: "execute", data: { code: "1" } })`, /execute waits for an answer/],
    [`host.emit({ type: "request:chat:completion" })`, /waits for an answer/],
    [`host.ask({ type: "execute", code: "1" })`, /takes the types confirmation and input/],
    [`host.emit({ type: "status", data: "é".repeat(2 ** 23) })`, /An event has 16 MB at most/],
    [`host.ask({ type: "input", title: "x".repeat(2 ** 20) })`, /An event has 1 MB at most/],
  ])("not %s", async (code, message) => {
    await addHostAction(app, { id: "sends", code: `return await ${code};`, capabilities: {} });
    const { refused } = await runAction(app, { id: "sends", user: admin, body: { session_id: "s" } });
    expect(refused).toMatch(message);
  });
});

it("a call that lasts loses what its caller loses", async () => {
  const member = await app.user();
  const { host } = new URL(upstream.origin);
  upstream.reply("/v1/began", json({}));
  const code = `await host.fetch("${upstream.url}/began");
    for (;;) { await host.storage.set("at", 1, { user: true }); await new Promise((go) => setTimeout(go, 50)); }`;
  const capabilities = { fetch: [host], storage: true };
  await addHostAction(app, { id: "lasts", code, capabilities });
  const began = upstream.nextRequest(({ path }) => path.endsWith("/began"));
  const acting = runAction(app, { id: "lasts", user: member, body: {} });
  await began;
  await require(call(`POST /api/v1/users/${member.id}/update`, { role: "pending" }));
  expect(await acting).toEqual({ refused: "The account that called this function may not act any more." });
});

it("the forms of a function that is off are for administrators", async () => {
  const code = `export const userValves = { who: { type: "string", default: "",
      input: { type: "select", options: "listWho" } } };
    export const listWho = () => ["me"];
    export function inlet() {}`;
  await addFunction(app, "off", code, { active: false });
  const member = await app.user();
  const route = "/api/v1/functions/id/off/valves/user";
  const answers = () =>
    Promise.all([
      call(`GET ${route}/spec`, undefined, member),
      call(`POST ${route}/update`, { who: "me" }, member),
      call(`GET ${route}/spec`),
    ]);
  expect((await answers()).map(({ status }) => status)).toEqual([404, 404, 200]);
  await require(call("POST /api/v1/functions/id/off/toggle"));
  expect((await answers()).map(({ status }) => status)).toEqual([200, 200, 200]);
});

it("a function may show a picture", async () => {
  const code = `await host.emit({ type: "files", data: { files: [{ url: "x".repeat(5e6) }] } }); return "shown";`;
  await addHostAction(app, { id: "draws", code, capabilities: {} });
  expect(await runAction(app, { id: "draws", user: admin, body: { session_id: "s" } })).toBe("shown");
});

describe("a dry run", () => {
  const dry = async (hook: string, code: string) => {
    const meta = "export const meta = { capabilities: { storage: true } };";
    const body = { hook, content: `${meta} ${code}`, body: {} };
    return (await require(call("POST /api/v1/functions/dry-run", body))).body;
  };

  it("stores no more than a function may", async () => {
    const set = (key: string) => `await host.storage.set("${key}", "x".repeat(1500));`;
    const { error } = await dry(
      "action",
      `export async function action(_, { host }) { ${set("a")} ${set("a")} await host.storage.delete("a"); ${set("b")} ${set("c")} }`,
    );
    expect(error.message).toBe("A function or tool may store at most 2000 bytes.");
    const good = `export async function action(_, { host }) { ${set("a")} ${set("a")} return 1; }`;
    expect(await dry("action", good)).toMatchObject({ result: 1, error: null });
  });

  it("keeps no more events and items than can be answered", async () => {
    const sends = `export async function action(_, { host }) {
      for (;;) await host.emit({ type: "status", data: "x".repeat(1e6) }); }`;
    const { events, error } = await dry("action", sends);
    expect([events.length, error.message]).toEqual([4, "A dry run keeps no more events."]);
    const yields = `export function* pipe() { for (;;) yield "x".repeat(1e6); }`;
    expect((await dry("pipe", yields)).result.length).toBeLessThan(10);
  });
});
