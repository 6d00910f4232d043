import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { startTerminalServer, type TerminalServer } from "#test/support/terminal/server.ts";
import { connect, entryOf, everyone, makeChat } from "../terminals.fixture.ts";

let app: App;
let server: TerminalServer;
let admin: TestUser;
const path = "/api/v1/configs/terminal_servers";

setUp(async (keep) => {
  server = await keep(startTerminalServer());
  app = await keep(useApp());
  admin = await app.admin();
});

it("shows keys masked, takes masks back for the same address only, and records each change", async () => {
  const saved = await connect(app, entryOf(server, { config: everyone, note: "kept" }));
  const [shown] = saved.body.TERMINAL_SERVER_CONNECTIONS;
  expect(shown).toMatchObject({
    id: "box",
    enabled: true,
    path: "/openapi.json",
    auth_type: "bearer",
    note: "kept",
  });
  expect(shown.key).toBe("sk-…0001");
  expect((await connect(app, { ...shown, name: "Renamed" })).status).toBe(200);
  expect((await admin.call("GET /api/v1/terminals/box/files/cwd")).status).toBe(200);
  const moved = await connect(app, { ...shown, url: "http://127.0.0.1:1" });
  expect([moved.status, moved.body.detail]).toEqual([400, expect.stringContaining("send the whole key")]);
  const records = await admin.call("GET /api/v1/audit?object_id=TERMINAL_SERVER_CONNECTIONS");
  expect(records.text).not.toContain(server.key);
});

it("refuses entries that cannot be used, naming the field", async () => {
  const wrong = async (more: object, ...others: object[]) => {
    const answer = await connect(app, entryOf(server, more), ...others);
    return [answer.status, JSON.stringify(answer.body.detail)];
  };
  expect(await wrong({ id: "../x" })).toEqual([422, expect.stringContaining('"id"')]);
  expect(await wrong({ id: ".." })).toEqual([422, expect.stringContaining('"id"')]);
  expect(await wrong({ auth_type: "session" })).toEqual([422, expect.stringContaining('"auth_type"')]);
  expect(await wrong({ url: "file:///etc/passwd" })).toEqual([
    400,
    expect.stringContaining("url is no http"),
  ]);
  expect(await wrong({ path: "http://127.0.0.1:1/openapi.json" })).toEqual([
    400,
    expect.stringContaining("another server"),
  ]);
  expect(await wrong({}, entryOf(server))).toEqual([400, expect.stringContaining("is taken")]);
  expect(await wrong({ config: { contexts: { chat: { context_id: "x" } } } })).toEqual([
    422,
    expect.any(String),
  ]);
});

it("tries a server: what it is, its tools, whether it has sessions; else what is wrong", async () => {
  expect((await admin.call(`POST ${path}/verify`, entryOf(server))).body).toEqual({
    status: true,
    type: "terminal",
    info: { title: "Test terminal", version: "1.0.0" },
    tools: ["list_files", "read_file", "display_file", "write_file", "run_command"],
    sessions: true,
  });
  for (const more of [{ key: "wrong" }, { url: "http://127.0.0.1:1", key: "" }, { path: "/nothing.json" }]) {
    const bad = await admin.call(`POST ${path}/verify`, entryOf(server, more));
    expect([bad.status, typeof bad.body.detail]).toEqual([400, "string"]);
  }
});

it("tells how each fares", async () => {
  await connect(
    app,
    entryOf(server),
    entryOf(server, { id: "off", enabled: false }),
    entryOf({ url: "http://127.0.0.1:1", key: "" }, { id: "gone" }),
  );
  const { body } = await admin.call(`GET ${path}/states?refresh=true`);
  expect(body.data.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
    ["box", "reachable"],
    ["off", "off"],
    ["gone", "failing"],
  ]);
  expect(body.data[2].reason).toContain("cannot be reached");
});

it("is for administrators", async () => {
  const user = await app.user();
  for (const route of [
    "GET ",
    "POST ",
    "POST /verify",
    "GET /states",
    "POST /policy",
    "POST /lifecycle",
    "POST /refresh",
  ]) {
    const [method, rest] = route.split(" ") as [string, string];
    expect((await user.call(`${method} ${path}${rest}`)).status).toBe(403);
  }
});

it("hands policies, lifecycles and refreshes to an orchestrator", async () => {
  const calls: unknown[] = [];
  const orchestrator = createServer((request, response) => {
    void text(request).then((body) => {
      calls.push([request.method, request.url, request.headers.authorization, body && JSON.parse(body)]);
      response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
    });
  });
  await new Promise<void>((resolve) => orchestrator.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(orchestrator.address() as AddressInfo).port}`;
  const entry = {
    ...entryOf({ url, key: "orchestrator-key" }),
    server_type: "orchestrator",
    policy_id: "small",
  };
  const stored = await connect(app, {
    ...entry,
    config: { ...everyone, contexts: { chat: { context_id: "chat_id" } } },
  });
  const { key } = stored.body.TERMINAL_SERVER_CONNECTIONS[0];
  const post = (route: string, body: object) => admin.call(`POST ${path}/${route}`, { url, key, ...body });
  expect((await post("policy", { policy_id: "small", policy_data: { image: "box" } })).body).toEqual({
    ok: true,
  });
  await post("lifecycle", { policy_id: "small", lifecycle_data: { idle: 60 } });
  await post("refresh", { policy_id: "small" });
  expect((await post("policy", { policy_id: "../x", policy_data: {} })).status).toBe(422);
  const bearer = "Bearer orchestrator-key";
  expect(calls).toEqual([
    ["PUT", "/api/v1/policies/small", bearer, { image: "box" }],
    ["PUT", "/api/v1/policies/small/lifecycle", bearer, { idle: 60 }],
    ["POST", "/api/v1/terminals/refresh", bearer, { policy_id: "small", only_idle: true, reset: false }],
  ]);
  // Scoped to chats: people reach it in one of their own, below its policy.
  const user = await app.user();
  const list = await user.call("GET /api/v1/terminals/");
  expect(list.body).toEqual([{ id: "box", name: "Box", contexts: { chat: { context_id: "chat_id" } } }]);
  calls.length = 0;
  expect((await user.call("GET /api/v1/terminals/box/files/cwd")).status).toBe(503);
  const headers = { "x-session-id": await makeChat(app, user) };
  expect((await user.call("GET /api/v1/terminals/box/files/cwd", undefined, headers)).body).toEqual({
    ok: true,
  });
  expect(calls).toEqual([["GET", "/p/small/files/cwd", bearer, ""]]);
  orchestrator.close();
});
