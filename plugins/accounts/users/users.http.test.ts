import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

let app: App;
let admin: TestUser;
let user: TestUser;
let pending: TestUser;

beforeAll(async () => {
  app = await startApp({ env: { PROFILE_IMAGE_MAX_DATA_URI_SIZE: "200" } });
  admin = await app.admin();
  user = await app.user();
  pending = await app.user("pending");
});

afterAll(() => app?.close());

const adminOnly = [
  "GET /api/v1/users",
  "GET /api/v1/users/",
  "GET /api/v1/users/all",
  "GET /api/v1/users/default/permissions",
  "GET /api/v1/users/default/permissions/defaults",
  "POST /api/v1/users/default/permissions",
  "GET /api/v1/users/:user",
  "GET /api/v1/users/:user/groups",
  "POST /api/v1/users/:user/update",
  "DELETE /api/v1/users/:user",
  "POST /api/v1/groups/create",
  "GET /api/v1/groups/id/x",
  "GET /api/v1/groups/id/x/export",
  "POST /api/v1/groups/id/x/users",
  "POST /api/v1/groups/id/x/update",
  "POST /api/v1/groups/id/x/users/add",
  "POST /api/v1/groups/id/x/users/remove",
  "DELETE /api/v1/groups/id/x/delete",
  "GET /api/v1/auths/admin/config",
  "POST /api/v1/auths/admin/config",
];
const membersOnly = [
  "GET /api/v1/users/search",
  "GET /api/v1/users/groups",
  "GET /api/v1/users/permissions",
  "GET /api/v1/users/user/settings",
  "GET /api/v1/users/user/status",
  "GET /api/v1/users/user/info",
  "GET /api/v1/users/user/variables",
  "GET /api/v1/users/:user/info",
  "GET /api/v1/users/:user/profile/image",
  "GET /api/v1/users/:user/active",
  "GET /api/v1/groups",
  "GET /api/v1/groups/",
];

const call = (route: string, who?: TestUser, body?: unknown) =>
  app.call(route.replace(":user", user.id), {
    token: who?.token,
    body: body ?? (route.startsWith("POST") ? {} : undefined),
  });

describe("who may call what", () => {
  it.each(adminOnly)("%s is for admins alone", async (route) => {
    expect((await call(route)).status).toBe(401);
    expect((await call(route, pending)).status).toBe(403);
    expect((await call(route, user)).status).toBe(403);
  });

  it.each(membersOnly)("%s is for members", async (route) => {
    expect((await call(route)).status).toBe(401);
    expect((await call(route, pending)).status).toBe(403);
    expect((await call(route, user)).status).toBe(200);
  });
});

describe("accounts", () => {
  it("are listed, found and shown without anything secret", async () => {
    const listed = await call("GET /api/v1/users", admin);
    expect(listed.body.total).toBeGreaterThanOrEqual(3);
    expect(listed.body.users[0]).toHaveProperty("group_ids");
    const found = await call(`GET /api/v1/users/search?query=${user.email}`, user);
    expect(found.body.users).toMatchObject([
      { id: user.id, name: user.name, email: user.email, role: "user" },
    ]);
    const info = await call("GET /api/v1/users/:user/info", user);
    expect(info.body).toMatchObject({
      id: user.id,
      profile_image_url: `/api/v1/users/${user.id}/profile/image`,
      groups: [],
    });
    expect(info.body.email).toBe(user.email);
    const other = await call("GET /api/v1/users/:user/info", await app.user());
    expect([other.body.name, other.body.email, other.text]).toEqual([
      user.name,
      null,
      expect.not.stringContaining(user.email),
    ]);
    expect((await call("GET /api/v1/users/:user/info", admin)).body.email).toBe(user.email);
    expect(listed.text + found.text + info.text).not.toMatch(/password|stamp|\$2[aby]\$/);
  });

  it("answer 422 for a query that does not fit, and 404 for nobody", async () => {
    const answer = await call("GET /api/v1/users?page=0", admin);
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["query", "page"]]);
    for (const path of ["", "/info", "/profile/image", "/active", "/groups"]) {
      expect((await call(`GET /api/v1/users/nobody${path}`, admin)).status).toBe(404);
    }
  });

  it("lose every session the moment their role changes", async () => {
    const other = await app.user();
    expect((await call("GET /api/v1/users/permissions", other)).status).toBe(200);
    const changed = await call(`POST /api/v1/users/${other.id}/update`, admin, { role: "pending" });
    expect([changed.status, changed.body.role]).toEqual([200, "pending"]);
    expect((await call("GET /api/v1/users/permissions", other)).status).toBe(401);
  });

  it("are gone at once when deleted", async () => {
    const other = await app.user();
    expect(await call(`DELETE /api/v1/users/${other.id}`, admin)).toMatchObject({ status: 200, body: true });
    expect((await call("GET /api/v1/users/permissions", other)).status).toBe(401);
    expect((await call(`GET /api/v1/users/${other.id}`, admin)).status).toBe(404);
    expect((await call(`DELETE /api/v1/users/${other.id}`, admin)).status).toBe(404);
  });

  it("protect the primary administrator, and admins from themselves", async () => {
    const second = await app.user("admin");
    expect((await call(`POST /api/v1/users/${admin.id}/update`, second, { name: "x" })).status).toBe(403);
    expect((await call(`DELETE /api/v1/users/${admin.id}`, second)).status).toBe(403);
    expect((await call(`DELETE /api/v1/users/${second.id}`, second)).status).toBe(403);
    expect((await call(`POST /api/v1/users/${admin.id}/update`, admin, { role: "user" })).status).toBe(403);
  });

  it("take the addresses that sign-up takes", async () => {
    const { id } = await app.user();
    const changed = await call(`POST /api/v1/users/${id}/update`, admin, { email: " Local@Intranet " });
    expect([changed.status, changed.body.email]).toEqual([200, "local@intranet"]);
  });

  it("have an address of a picture for each e-mail address, however it is spelled", async () => {
    const at = (email: string) => user.call(`GET /api/v1/utils/gravatar?email=${encodeURIComponent(email)}`);
    const hash = "973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b";
    expect((await at(" Test@Example.com")).body).toBe(`https://www.gravatar.com/avatar/${hash}?d=mp`);
    expect((await at("")).status).toBe(422);
  });

  it("show others the groups that these may know of", async () => {
    const [one, other] = [await app.user(), await app.user()];
    const make = async (name: string, share: boolean | "members", members: TestUser[]) => {
      const { id } = (await call("POST /api/v1/groups/create", admin, { name, data: { config: { share } } }))
        .body;
      await call(`POST /api/v1/groups/id/${id}/users/add`, admin, {
        user_ids: members.map((member) => member.id),
      });
    };
    await make("Hidden", false, [one]);
    await make("Inner", "members", [one]);
    await make("Open", true, [one]);
    await make("Shared", false, [one, other]);
    const shown = async (caller: TestUser) =>
      (await call(`GET /api/v1/users/${one.id}/info`, caller)).body.groups.map(
        ({ name }: { name: string }) => name,
      );
    expect(await shown(other)).toEqual(["Open", "Shared"]);
    expect(await shown(one)).toEqual(["Hidden", "Inner", "Open", "Shared"]);
    expect(await shown(admin)).toEqual(["Hidden", "Inner", "Open", "Shared"]);
  });

  it("refuse a taken or broken address", async () => {
    expect((await call("POST /api/v1/users/:user/update", admin, { email: admin.email })).status).toBe(409);
    expect((await call("POST /api/v1/users/:user/update", admin, { email: "nonsense" })).status).toBe(422);
    expect((await call("POST /api/v1/users/:user/update", admin, { role: "root" })).status).toBe(422);
  });
});

describe("pictures", () => {
  const png = `data:image/png;base64,${Buffer.from("89504e470d0a1a0a00", "hex").toString("base64")}`;
  const put = (url: string) => call("POST /api/v1/users/:user/update", admin, { profile_image_url: url });
  const get = () => call("GET /api/v1/users/:user/profile/image", user);

  it("are answered as what they are, and never as something that runs", async () => {
    expect((await get()).headers.get("content-type")).toBe("image/png");
    await put(png);
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
    expect((await put("data:image/svg+xml;base64,PHN2Zy8+")).status).toBe(400);
    expect((await put(`${png}${"A".repeat(200)}`)).status).toBe(413);
    expect((await get()).headers.get("etag")).toBe(answer.headers.get("etag"));
  });

  it("redirect to other sites", async () => {
    await put("https://pictures.example/p.png");
    const answer = await get();
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "https://pictures.example/p.png"]);
  });
});

describe("permissions", () => {
  const tree = async (who: TestUser) => (await call("GET /api/v1/users/permissions", who)).body;

  it("of groups add to the default ones, at once", async () => {
    expect((await tree(user)).features.api_keys).toBe(false);
    const permissions = { features: { api_keys: true, notes: false } };
    const group = (await call("POST /api/v1/groups/create", admin, { name: "Keys", permissions })).body;
    await call(`POST /api/v1/groups/id/${group.id}/users/add`, admin, { user_ids: [user.id] });
    expect((await tree(user)).features).toMatchObject({ api_keys: true, notes: true });
    expect((await call("GET /api/v1/users/groups", user)).body).toMatchObject([
      { id: group.id, name: "Keys" },
    ]);
    expect((await call("GET /api/v1/users/:user/groups", admin)).body).toMatchObject([{ id: group.id }]);
    await call(`POST /api/v1/groups/id/${group.id}/update`, admin, { permissions: null });
    expect((await tree(user)).features.api_keys).toBe(false);
    await call(`POST /api/v1/groups/id/${group.id}/update`, admin, { permissions });
    expect((await tree(user)).features.api_keys).toBe(true);
    await call(`DELETE /api/v1/groups/id/${group.id}/delete`, admin);
    expect((await tree(user)).features.api_keys).toBe(false);
  });

  it("by default are stored as a tree and filled up with what is built in", async () => {
    const builtIn = (await call("GET /api/v1/users/default/permissions/defaults", admin)).body;
    expect(builtIn.chat.delete).toBe(true);
    const stored = await call("POST /api/v1/users/default/permissions", admin, { chat: { delete: false } });
    expect(stored.body.chat).toMatchObject({ delete: false, edit: true });
    expect((await tree(user)).chat.delete).toBe(false);
    await call("POST /api/v1/users/default/permissions", admin, {});
    expect((await tree(user)).chat.delete).toBe(true);
    const wrong = await call("POST /api/v1/users/default/permissions", admin, { chat: { delete: "no" } });
    expect([wrong.status, wrong.body.detail[0].loc]).toEqual([422, ["body", "chat", "delete"]]);
  });
});

describe("what people keep themselves", () => {
  it("follows the rules of patches over HTTP", async () => {
    const update = (body: unknown) => call("POST /api/v1/users/user/settings/update", user, body);
    const set = await update({
      ui: { theme: "dark", toolServers: [{ url: "http://10.0.0.1" }] },
      role: "admin",
    });
    expect(set.body).toEqual({ ui: { theme: "dark" }, own: ["theme"] });
    expect((await update({ ui: { theme: null } })).body).toEqual({ ui: {}, own: [] });
    expect((await update({ ui: [] })).status).toBe(422);
    expect((await update({})).status).toBe(422);
    expect((await call("GET /api/v1/users/:user", admin)).body.role).toBe("user");
  });

  it("keeps info and variables", async () => {
    await call("POST /api/v1/users/user/info/update", user, { location: "Bern" });
    expect((await call("GET /api/v1/users/user/info", user)).body).toEqual({ location: "Bern" });
    const set = await call("POST /api/v1/users/user/variables/update", user, { variables: { city: "Bern" } });
    expect(set.body).toEqual({ variables: { city: "Bern" } });
    const bad = await call("POST /api/v1/users/user/variables/update", user, { variables: { "a b": "" } });
    expect(bad.status).toBe(400);
  });

  it("refuses the status while the setting is off", async () => {
    const set = await call("POST /api/v1/users/user/status/update", user, { status_message: "here" });
    expect(set.body).toMatchObject({ status_message: "here", status_emoji: null });
    await call("POST /api/v1/auths/admin/config", admin, { ENABLE_USER_STATUS: false });
    expect((await call("GET /api/v1/users/user/status", user)).status).toBe(403);
    expect((await call("POST /api/v1/users/user/status/update", user, {})).status).toBe(403);
    await call("POST /api/v1/auths/admin/config", admin, { ENABLE_USER_STATUS: true });
    expect((await call("GET /api/v1/users/user/status", user)).status).toBe(200);
  });

  it("names the field of the general settings that cannot take a value", async () => {
    const answer = await call("POST /api/v1/auths/admin/config", admin, { DEFAULT_USER_ROLE: "root" });
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["body", "DEFAULT_USER_ROLE"]]);
  });
});
