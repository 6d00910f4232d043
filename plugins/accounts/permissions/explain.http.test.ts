import { afterAll, beforeAll, expect, test } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
let admin: TestUser;
let user: TestUser;
let groupId: string;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
  user = await app.user();
  const body = { name: "Millers", permissions: { sharing: { models: true } } };
  groupId = (await as(admin)("POST /api/v1/groups/create", body)).body.id;
  await as(admin)(`POST /api/v1/groups/id/${groupId}/users/add`, { user_ids: [user.id] });
});

afterAll(() => app?.close());

const as =
  ({ token }: TestUser) =>
  (route: string, body?: unknown) =>
    app.call(route, { token, body });
const why = async (who: TestUser, kind: string, id: string) =>
  (await as(admin)(`GET /api/v1/users/${who.id}/access?kind=${kind}&resource_id=${encodeURIComponent(id)}`))
    .body;
const permissions = async (who: TestUser) => {
  const { body } = await as(admin)(`GET /api/v1/users/${who.id}/permissions`);
  return (path: string) => body.permissions.find((each: { path: string }) => each.path === path);
};

test("tells what an account may do by the defaults, by its groups, and by its role", async () => {
  const of = await permissions(user);
  expect(of("features.notes")).toMatchObject({ allowed: true, default: true, groups: [] });
  expect(of("sharing.models")).toMatchObject({
    allowed: true,
    default: false,
    groups: [{ id: groupId, name: "Millers" }],
  });
  expect(of("sharing.tools")).toMatchObject({ allowed: false, default: false, groups: [] });
  expect((await permissions(admin))("sharing.tools").allowed).toBe(true);
  const pending = await app.user("pending");
  expect((await permissions(pending))("features.notes").allowed).toBe(false);
  expect((await as(user)(`GET /api/v1/users/${user.id}/permissions`)).status).toBe(403);
});

test("tells why somebody can read a folder and the chats in it, and that others cannot", async () => {
  const owner = await app.user();
  const folder = (await as(admin)("POST /api/v1/folders/", { name: "Mill" })).body.id;
  const message = { id: "m", parentId: null, childrenIds: [], role: "user", content: "Hello", timestamp: 1 };
  const history = { currentId: "m", messages: { m: message } };
  const chat = { chat: { title: "River", models: [], history }, folder_id: folder };
  const chatId = (await as(admin)("POST /api/v1/chats/new", chat)).body.id;
  expect(await why(user, "folder", folder)).toMatchObject({ may_read: false, may_write: false, reasons: [] });
  const grants = [{ principal_type: "group", principal_id: groupId, permission: "read" }];
  const shared = await as(admin)(`POST /api/v1/folders/${folder}/access/update`, { access_grants: grants });
  expect(shared.status).toBe(200);
  expect(await why(user, "folder", folder)).toMatchObject({
    resource: { name: "Mill", owner: admin.name },
    may_read: true,
    may_write: false,
    reasons: [
      {
        rule: "group_grant",
        name: "Millers",
        permission: "read",
        text: "It is shared with the group Millers, of which this person is a member.",
      },
    ],
  });
  const seen = await why(user, "chat", chatId);
  expect(seen).toMatchObject({ may_read: true, may_write: false });
  expect(seen.reasons).toEqual([expect.objectContaining({ rule: "folder", permission: "read" })]);
  expect(await why(owner, "chat", chatId)).toMatchObject({ may_read: false, reasons: [] });
  expect((await why(admin, "chat", chatId)).reasons.map(({ rule }: { rule: string }) => rule)).toContain(
    "owner",
  );
});

test("tells why somebody can use a model", async () => {
  const model = { id: "miller", name: "Miller", base_model_id: null, meta: {}, params: {} };
  expect((await as(admin)("POST /api/v1/models/create", model)).status).toBe(200);
  const other = await app.user("admin");
  expect((await why(user, "model", "miller")).reasons).toEqual([]);
  expect((await why(other, "model", "miller")).reasons).toEqual([
    expect.objectContaining({ rule: "administrator", permission: "read" }),
    expect.objectContaining({ rule: "administrator", permission: "write" }),
  ]);
  const pending = await app.user("pending");
  expect(await why(pending, "model", "miller")).toMatchObject({
    is_waiting: true,
    may_read: false,
    reasons: [],
  });
  expect(await why(user, "model", "miller")).toMatchObject({ is_waiting: false });
  const missing = await as(admin)(`GET /api/v1/users/${user.id}/access?kind=model&resource_id=nothing`);
  expect(missing.status).toBe(404);
  expect(missing.body.detail).toBe("There is no model of this id.");
});
