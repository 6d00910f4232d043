import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { type OpenApiService, startOpenApiService } from "./service.fixture.ts";

let app: App;
let service: OpenApiService;
let silent: Upstream;
let admin: TestUser;
let member: TestUser;

beforeAll(async () => {
  service = await startOpenApiService();
  silent = await startUpstream();
  silent.blackHole(true);
  app = await startApp({
    env: { AIOHTTP_CLIENT_TIMEOUT_TOOL_SERVER: "1", ENABLE_FORWARD_USER_INFO_HEADERS: "true" },
  });
  [admin, member] = [await app.admin(), await app.user()];
  await configure([server()]);
});
afterAll(async () => {
  await app.close();
  await Promise.all([service.close(), silent.close()]);
});

const server = (more: Record<string, unknown> = {}) => ({
  url: service.url,
  type: "openapi",
  auth_type: "bearer",
  key: "sk-workshop-key-1",
  headers: { "X-Asker": "{{USER_NAME}} {{USER_ROLE}} {{UNKNOWN}}", "X-Trace": "fixed" },
  info: { id: "workshop", name: "Workshop" },
  ...more,
});
async function configure(servers: readonly object[]) {
  const answer = await admin.call("POST /api/v1/configs/tool_servers", { TOOL_SERVER_CONNECTIONS: servers });
  expect(answer.status, answer.text).toBe(200);
}
const verify = (body: object) => admin.call("POST /api/v1/configs/tool_servers/verify", body);
const trying = async (name: string, parameters: object = {}, id = "server:workshop") =>
  (await admin.call("POST /api/v1/configs/tool_servers/try", { tool_id: id, name, parameters })).body;
const states = async (query = "") =>
  (await admin.call(`GET /api/v1/configs/tool_servers/states${query}`)).body.data;

describe("a call of a server", () => {
  it("carries its parameters, the server's key and who asks, which no model replaces", async () => {
    const parameters = {
      id: "a/b",
      tags: ["x", "y"],
      filter: { n: 1 },
      "x-trace": "mine",
      authorization: "evil",
    };
    const result = await trying("get_item", parameters);
    expect(result.ok, result.text).toBe(true);
    const { url, headers } = service.got.at(-1)!;
    expect(url).toBe("/items/a%2Fb?tags=x&tags=y&filter%5Bn%5D=1");
    expect(headers).toMatchObject({
      authorization: "Bearer sk-workshop-key-1",
      "x-asker": "admin admin {{UNKNOWN}}",
      "x-trace": "fixed",
      "x-service-user-id": admin.id,
    });
    await trying("put_item", { id: "1", body_id: 2, name: "Saw", parts: [{ name: "Blade" }] });
    expect([service.got.at(-1)!.url, JSON.parse(service.got.at(-1)!.body)]).toEqual([
      "/items/1",
      { id: 2, name: "Saw", parts: [{ name: "Blade" }] },
    ]);
  });

  it.each([
    ["json", { text: '{"list":[1,{"two":2}]}' }],
    ["text", { text: "Plain words." }],
    ["page", { embeds: ["<h1>Chart</h1>"], text: expect.stringContaining("shown to the user") }],
    ["place", { embeds: ["https://charts.example/1"] }],
    [
      "picture",
      {
        files: [
          {
            name: "result.png",
            content_type: "image/png",
            size: 70,
            url: expect.stringMatching(/^data:image/),
          },
        ],
      },
    ],
    ["file", { files: [{ name: "Report 1.pdf", content_type: "application/pdf", size: 8, url: null }] }],
    ["nothing", { text: "The server answered with status 204 and nothing else." }],
    [
      "refused",
      { ok: false, text: 'The tool server "Workshop" refused with status 418: {"detail":"short and stout"}' },
    ],
    [
      "moved",
      { ok: false, text: 'The tool server "Workshop" answered with a redirect, which is not followed.' },
    ],
    ["hang", { ok: false, text: 'The tool server "Workshop" did not finish within 1 seconds.' }],
    ["midway", { ok: false, text: 'The tool server "Workshop" closed the connection.' }],
    ["huge", { text: expect.stringContaining("[output truncated") }],
  ])("reads an answer of the kind %s", async (kind, expected) => {
    expect(await trying("answer", { kind })).toMatchObject({ ok: true, ...expected });
  });

  it("is refused in words where a sign-in through a provider would be needed", async () => {
    await configure([server({ auth_type: "system_oauth", key: "" })]);
    const answer = await trying("get_item", { id: "1" });
    expect(JSON.stringify(answer)).toContain("sign-in through your organisation's provider");
    await configure([server()]);
  });

  it("shows the caller's own credential where the server wants it", async () => {
    await configure([server({ auth_type: "session", key: "" })]);
    await trying("get_item", { id: "1" });
    expect(service.got.at(-1)!.headers.authorization).toBe(`Bearer ${admin.token}`);
    await configure([server()]);
  });
});

describe("a try of a server", () => {
  it("tells its functions, from an address or from what was typed", async () => {
    const seen = await verify(server({ path: "openapi.json" }));
    expect([seen.status, seen.body.openapi, seen.body.info.title]).toEqual([200, "3.1.0", "Workshop"]);
    expect(seen.body.specs.map(({ name }: { name: string }) => name)).toEqual([
      "get_item",
      "put_item",
      "answer",
      "delete_plain",
    ]);
    const before = service.got.length;
    const typed = await verify(server({ spec_type: "json", spec: JSON.stringify(service.document) }));
    expect([typed.status, typed.body.specs.length, service.got.length]).toEqual([200, 4, before]);
  });

  it("keeps the key from a document on another host", async () => {
    const other = await startOpenApiService();
    await verify(server({ path: `${other.url}/openapi.json` }));
    expect(other.got.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ["/openapi.json", undefined],
    ]);
    await other.close();
  });

  it.each([
    ["nobody listens", { url: "http://127.0.0.1:9" }, /could not be read/],
    ["something else answers", { path: "/answers" }, /OpenAPI 3 document/],
    ["it moved", { path: "/answers/moved" }, /redirect/],
    ["its document has no end", { path: "/answers/huge" }, /larger than allowed/],
  ])("fails in words where %s", async (_name, more, words) => {
    const answer = await verify(server(more));
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(words)]);
  });
});

describe("what is offered", () => {
  it("is what the server's filter names, and costs it no request", async () => {
    await configure([server({ config: { function_name_filter_list: "get_item, !answer, put_item" } })]);
    const [state] = await states("?refresh=true");
    expect(state).toMatchObject({ state: "reachable", tool_id: "server:workshop" });
    expect(
      state.functions
        .filter((each: { is_offered: boolean }) => each.is_offered)
        .map(({ name }: { name: string }) => name),
    ).toEqual(["get_item", "put_item"]);
    const before = service.got.length;
    expect((await trying("answer", { kind: "json" })).detail).toContain("no such function");
    expect(service.got.length).toBe(before);
    await configure([server()]);
  });

  it("is told again where the document changed, and the last good one stands while the server is away", async () => {
    await states("?refresh=true");
    const whole = service.document;
    service.document = { ...whole, paths: { "/new": { get: { operationId: "fresh", responses: {} } } } };
    const [changed] = await states("?refresh=true");
    expect(changed.functions.map(({ name }: { name: string }) => name)).toEqual(["fresh"]);
    service.document = { broken: true };
    const [failing] = await states("?refresh=true");
    expect(failing).toMatchObject({
      state: "failing",
      reason: expect.stringContaining("no OpenAPI 3 document"),
      functions: [{ name: "fresh" }],
    });
    service.document = whole;
    await states("?refresh=true");
  });

  it("is asked for where nothing is known yet, without asking the others again", async () => {
    await configure([server()]);
    await states("?refresh=true");
    const before = service.got.length;
    await configure([server(), server({ url: "http://127.0.0.1:9", info: { id: "fresh", name: "Fresh" } })]);
    const [known] = await states("?refresh=unknown");
    expect(known).toMatchObject({ state: "reachable", tool_id: "server:workshop" });
    expect(service.got.length).toBe(before);
    await configure([server()]);
  });

  it("is listed and used by those whom a grant lets, and by nobody else", async () => {
    const grant = { principal_type: "user", principal_id: member.id, permission: "read" };
    await configure([
      server({ config: { access_grants: [grant] } }),
      server({ info: { id: "closed", name: "Closed" } }),
      server({ info: { id: "off" }, config: { enable: false, access_grants: [grant] } }),
      server({
        url: silent.origin,
        info: { id: "silent", name: "Silent" },
        config: { access_grants: [grant] },
      }),
    ]);
    const listed = await member.call("GET /api/v1/tools/");
    expect(listed.body.map(({ id }: { id: string }) => id)).toEqual(["server:workshop", "server:silent"]);
    const before = service.got.length;
    for (const id of ["server:closed", "server:off", "server:none"]) {
      const asked = await member.call("POST /api/chat/completions", {
        model: "guide",
        messages: [{ role: "user", content: "Hi" }],
        tool_ids: [id],
      });
      expect([id, asked.status]).toEqual([id, 404]);
    }
    // Only MCP servers tell their functions by that route.
    expect((await member.call("GET /api/v1/tools/id/server:workshop/specs")).status).toBe(404);
    expect(service.got.length).toBe(before);
  });
});
