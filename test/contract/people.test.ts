import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, createClient } from "#plugins/web/kit/client.ts";
import type { Api } from "#plugins/catalogue.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

// ecosystem-shapes.md, Lists and records: accounts and the general settings.

let app: App;
let client: Client<Api>;
let user: TestUser;

beforeAll(async () => {
  app = await useApp();
  const admin = await app.admin();
  client = createClient<Api>({ url: app.url, token: () => admin.token });
  user = await app.user();
});

afterAll(() => app?.close());

const find = <T extends { id: string }>(users: readonly T[]) => users.find(({ id }) => id === user.id);

describe("GET /users/", () => {
  it("shows each account's interface settings, but not what holds keys", async () => {
    const own = createClient<Api>({ url: app.url, token: () => user.token });
    const keys = { directConnections: { OPENAI_API_KEYS: ["sk-own"] }, toolServers: [{ key: "sk-own" }] };
    await (
      await app.admin()
    ).call("POST /api/v1/users/default/permissions", {
      features: { direct_tool_servers: true, webhooks: true },
    });
    const ui = { widescreenMode: true, notifications: { webhook_url: "https://sk-own" }, ...keys };
    await own.call("POST /api/v1/users/user/settings/update", { body: { ui } });
    const { users } = await client.call("GET /api/v1/users");
    expect(find(users)?.["settings"]).toEqual({ ui: { widescreenMode: true } });
    expect(JSON.stringify(users)).not.toContain("sk-own");
  });

  it("leaves settings out that would make the page long", async () => {
    const big = await app.user();
    await big.call("POST /api/v1/users/user/settings/update", { ui: { long: "x".repeat(100_000) } });
    const { users } = await client.call("GET /api/v1/users");
    expect(users.find(({ id }) => id === big.id)?.["settings"]).toBeNull();
  });
});

it("GET /users/all shows the groups of each account", async () => {
  const group = await client.call("POST /api/v1/groups/create", { body: { name: "Crew", description: "" } });
  await client.call("POST /api/v1/groups/id/:id/users/add", {
    params: { id: group.id },
    body: { user_ids: [user.id] },
  });
  const { users } = await client.call("GET /api/v1/users/all");
  expect(find(users)).toMatchObject({
    groups: [{ id: group.id, name: "Crew" }],
    group_ids: [group.id],
  });
  expect(users.filter(({ id }) => id !== user.id).map((other) => other["groups"])).toContainEqual([]);
});

describe("GET /auths/admin/config", () => {
  it("holds the login form and the interface's starting values", async () => {
    const config = await client.call("GET /api/v1/auths/admin/config");
    expect(config).toMatchObject({ ENABLE_LOGIN_FORM: true, DEFAULT_INTERFACE_SETTINGS: {} });
    const changed = await client.call("POST /api/v1/auths/admin/config", {
      body: { ENABLE_LOGIN_FORM: false, DEFAULT_INTERFACE_SETTINGS: { chatBubble: false } },
    });
    expect(changed).toMatchObject({
      ENABLE_LOGIN_FORM: false,
      DEFAULT_INTERFACE_SETTINGS: { chatBubble: false },
    });
    await client.call("POST /api/v1/auths/admin/config", { body: { ENABLE_LOGIN_FORM: true } });
  });

  it("holds no switch of what is not there", async () => {
    const later = "SKILLS";
    const config = await client.call("GET /api/v1/auths/admin/config");
    for (const name of later.split(" ")) {
      expect(config).not.toHaveProperty(`ENABLE_${name}`);
    }
  });
});
