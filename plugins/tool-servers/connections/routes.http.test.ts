import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
});
afterAll(() => app.close());

const server = {
  url: "http://127.0.0.1:9",
  path: "openapi.json",
  type: "openapi",
  auth_type: "bearer",
  key: "sk-tools-key-1234",
  headers: { "x-api-token": "header-secret-5678", "x-user": "{{USER_ID}}" },
  config: {
    enable: true,
    access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }],
  },
  info: { id: "crm", name: "CRM", description: "" },
};
const save = (servers: readonly object[]) =>
  admin.call("POST /api/v1/configs/tool_servers", { TOOL_SERVER_CONNECTIONS: servers });

it("servers are kept with their secrets, which nobody is shown and which move to no other address", async () => {
  const saved = await save([server]);
  expect(saved.status).toBe(200);
  const shown = saved.body.TOOL_SERVER_CONNECTIONS[0];
  expect(shown).toEqual({
    ...server,
    key: "sk-…1234",
    headers: { "x-api-token": "sk-…5678", "x-user": "{{USER_ID}}" },
  });
  const again = await save([{ ...shown, info: { ...shown.info, name: "Customers" } }]);
  expect(again.body.TOOL_SERVER_CONNECTIONS[0]).toMatchObject({
    key: "sk-…1234",
    info: { name: "Customers" },
  });
  expect((await save([{ ...shown, url: "http://127.0.0.1:8" }])).status).toBe(400);
  const read = await admin.call("GET /api/v1/configs/tool_servers");
  expect(read.body).toEqual(again.body);
  expect(read.text).not.toMatch(/tools-key|header-secret/);
  const audited = await admin.call("GET /api/v1/audit?object_type=setting");
  expect(audited.text).toContain("TOOL_SERVER_CONNECTIONS");
  expect(audited.text).not.toMatch(/tools-key|header-secret/);
});

it.each([
  ["a command", { type: "mcp", command: "npx", args: ["-y", "x"] }, /command/],
  ["arguments among the settings", { ...server, config: { args: ["x"] } }, /config\.args/],
  ["an environment", { ...server, info: { env: { A: "b" } } }, /info\.env/],
  ["another type", { ...server, type: "stdio" }, /stdio/],
  ["no web address", { ...server, url: "file:///etc/passwd" }, /url/],
  ["an unknown way to sign in", { ...server, auth_type: "basic" }, /auth_type/],
  ["a header of the transport", { ...server, headers: { Host: "x" } }, /Host/],
])("a server with %s is refused, saved and tried alike", async (_name, given, words) => {
  const before = await admin.call("GET /api/v1/configs/tool_servers");
  const tried = await admin.call("POST /api/v1/configs/tool_servers/verify", given);
  for (const answer of [await save([given]), tried]) {
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(words)]);
  }
  expect((await admin.call("GET /api/v1/configs/tool_servers")).body).toEqual(before.body);
});

it("bad shapes name their field, and two servers cannot share an id", async () => {
  const bad = await save([{ ...server, info: { id: "a/b" } }]);
  expect([bad.status, bad.body.detail[0].loc]).toEqual([
    422,
    ["body", "TOOL_SERVER_CONNECTIONS", 0, "info", "id"],
  ]);
  expect((await save([server, server])).status).toBe(400);
});

it("members neither read nor change them", async () => {
  const { token } = await app.user();
  for (const route of [
    "GET /api/v1/configs/tool_servers",
    "POST /api/v1/configs/tool_servers",
    "POST /api/v1/configs/tool_servers/verify",
  ]) {
    expect((await app.call(route, { token, ...(route.startsWith("POST") && { body: {} }) })).status).toBe(
      403,
    );
  }
});
