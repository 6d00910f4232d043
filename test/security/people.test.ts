import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

let app: App;
let admin: TestUser;
let user: TestUser;
let victim: TestUser;

beforeAll(async () => {
  app = await startApp();
  [admin, user, victim] = [await app.admin(), await app.user(), await app.user()];
});
afterAll(() => app?.close());

const profile = (extra: object) =>
  user.call("POST /api/v1/auths/update/profile", { name: "Person", profile_image_url: "", ...extra });

describe("a form with more fields than it has", () => {
  const wanted = {
    id: "x",
    user_id: "x",
    role: "admin",
    email: "root@example.test",
    permissions: { workspace: { models: true } },
    session_stamp: "x",
    active: true,
    created_at: 1,
    scim: {},
    oauth: {},
    settings: {},
  };

  it("changes nothing but its own fields in the own account", async () => {
    const before = (await admin.call(`GET /api/v1/users/${user.id}`)).body;
    const answer = await profile({ ...wanted, name: before.name });
    expect([answer.status, answer.body.role, answer.body.email]).toEqual([200, "user", user.email]);
    for (const route of ["timezone", "password"]) {
      await user.call(`POST /api/v1/auths/update/${route}`, { ...wanted, timezone: "Europe/Berlin" });
    }
    await user.call("POST /api/v1/users/user/status/update", { ...wanted, status_message: "hi" });
    await user.call("POST /api/v1/users/user/info/update", { role: "admin" });
    await user.call("POST /api/v1/users/user/settings/update", { ...wanted, ui: { role: "admin" } });
    const after = (await admin.call(`GET /api/v1/users/${user.id}`)).body;
    const facts = ({ id, role, email, created_at, scim, oauth }: Record<string, unknown>) => ({
      id,
      role,
      email,
      created_at,
      scim,
      oauth,
    });
    expect(facts(after)).toEqual(facts(before));
    expect((await user.call("GET /api/v1/users/")).status).toBe(403);
  });

  it("signs nobody up as more than the default role", async () => {
    const form = { name: "Eve", password: "Correct-horse-1", ...wanted };
    const answer = await app.call("POST /api/v1/auths/signup", {
      body: { ...form, email: "eve@example.test" },
    });
    expect([answer.status, answer.body.role]).toEqual([200, "pending"]);
    expect(answer.body.id).not.toBe("x");
  });

  it("makes no group its sender's, nor with an id of its own", async () => {
    const { body } = await admin.call("POST /api/v1/groups/create", {
      name: "Mine",
      description: "",
      ...wanted,
      permissions: null,
    });
    expect([body.id === "x", body.user_id]).toEqual([false, admin.id]);
  });
});

describe("an account without the role (S131)", () => {
  it.each<[string, () => [string, unknown]]>([
    ["adds itself to a group", () => ["POST /api/v1/groups/id/G/users/add", { user_ids: [user.id] }]],
    ["removes others from one", () => ["POST /api/v1/groups/id/G/users/remove", { user_ids: [victim.id] }]],
    [
      "changes what a group may do",
      () => ["POST /api/v1/groups/id/G/update", { permissions: { workspace: { models: true } } }],
    ],
    ["makes a group", () => ["POST /api/v1/groups/create", { name: "x", description: "" }]],
    [
      "changes the default permissions",
      () => ["POST /api/v1/users/default/permissions", { workspace: { models: true } }],
    ],
    ["changes the default role", () => ["POST /api/v1/auths/admin/config", { DEFAULT_USER_ROLE: "admin" }]],
    ["changes the default group", () => ["POST /api/v1/auths/admin/config", { DEFAULT_GROUP_ID: "G" }]],
    ["sets a variable", () => ["POST /api/v1/configs/settings", { DEFAULT_USER_ROLE: "admin" }]],
    [
      "imports settings",
      () => ["POST /api/v1/configs/import", { config: { ui: { default_user_role: "admin" } } }],
    ],
    ["changes its own role", () => [`POST /api/v1/users/${user.id}/update`, { role: "admin" }]],
    [
      "makes an admin",
      () => ["POST /api/v1/auths/add", { name: "x", email: "x@example.test", password: "x", role: "admin" }],
    ],
  ])("that %s gets 403, and nothing changes", async (_what, make) => {
    const groups = (await admin.call("GET /api/v1/groups/")).body;
    const group =
      groups[0] ?? (await admin.call("POST /api/v1/groups/create", { name: "Team", description: "" })).body;
    const [route, body] = make();
    const state = async () => {
      const paths = [
        `groups/id/${group.id}/export`,
        "users/default/permissions",
        "auths/admin/config",
        `users/${user.id}`,
        "groups/",
      ];
      const parts = await Promise.all(paths.map((path) => admin.call(`GET /api/v1/${path}`)));
      return parts.map(
        ({ body: { last_active_at: _seen, is_active: _active, updated_at: _updated, ...rest } }) => rest,
      );
    };
    const before = await state();
    const text = JSON.stringify(body).replace('"G"', `"${group.id}"`);
    expect((await user.call(route.replace("/G/", `/${group.id}/`), text)).status).toBe(403);
    expect(await state()).toEqual(before);
  });
});

describe("what members learn of one another (S39, S107)", () => {
  const secrets =
    /password|hash|session_stamp|"settings"|"oauth"|"scim"|"info"|sk-[0-9a-f]{8}|\$2[aby]\$|eyJ/;

  it("is public facts alone, in every list and record", async () => {
    await victim.call("POST /api/v1/users/user/info/update", { diary: "dear diary" });
    for (const path of [
      `users/${victim.id}/info`,
      "users/search?query=person",
      `users/${victim.id}/active`,
      "groups/",
      "users/groups",
    ]) {
      const { status, text } = await user.call(`GET /api/v1/${path}`);
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toMatch(secrets);
      expect(text).not.toContain("diary");
    }
  });

  it("holds no hash, stamp or token for administrators either", async () => {
    for (const path of [
      "users/",
      "users/all",
      `users/${victim.id}`,
      "configs/settings",
      "configs/export",
      "auths/admin/config",
    ]) {
      const { text } = await admin.call(`GET /api/v1/${path}`);
      expect(text).not.toMatch(/session_stamp"|\$2[aby]\$|\$argon2|eyJ[\w-]{8}|sk-[0-9a-f]{8}/);
    }
  });

  it("is the same for an account that exists and one that does not, where it is not theirs", async () => {
    for (const route of [
      "GET /api/v1/users/ID",
      "GET /api/v1/users/ID/groups",
      "POST /api/v1/users/ID/update",
      "DELETE /api/v1/users/ID",
      "GET /api/v1/groups/id/ID",
      "GET /api/v1/groups/id/ID/info",
    ]) {
      const ask = async (id: string) => {
        const { status, text } = await app.call(route.replace("ID", id), {
          token: user.token,
          ...(route.startsWith("POST") && { body: {} }),
        });
        return [status, text];
      };
      expect(await ask(victim.id)).toEqual(await ask("00000000-0000-4000-8000-000000000000"));
    }
  });
});
