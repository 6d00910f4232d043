import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
});
afterAll(() => app?.close());

let count = 0;
const post = (path: string, body: unknown, token?: string) =>
  app.call(`POST /api/v1/${path}`, { body, token });

async function invite(id: string): Promise<string> {
  const { body } = await post("users/invitations", { user_ids: [id] }, admin.token);
  return new URL(body.invitations[0].path, app.url).hash.replace("#invitation=", "");
}

async function addInvited(): Promise<{ id: string; email: string }> {
  const email = `invited${++count}@example.test`;
  const form = { name: "Invited", email, password: null, role: "user" };
  return { id: (await post("auths/add", form, admin.token)).body.id, email };
}

it("lets a person choose the password of a new account, once", async () => {
  const { id, email } = await addInvited();
  const token = await invite(id);
  expect((await post("auths/invitation/find", { token })).body).toEqual({ name: "Invited", email });
  const weak = await post("auths/invitation", { token, password: "short" });
  expect([weak.status, weak.body.detail]).toEqual([400, "The password must have at least 8 characters."]);
  const password = "Chosen-stones-3";
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => post("auths/invitation", { token, password })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404]);
  const session = answers.find(({ status }) => status === 200);
  expect(session?.headers.getSetCookie().join()).toContain("token=");
  expect((await app.call("GET /api/v1/auths", { token: session?.body.token })).body.email).toBe(email);
  expect((await post("auths/signin", { email, password })).status).toBe(200);
});

it("is good no longer once another was made, a password was set, or the account was deleted", async () => {
  const { id } = await addInvited();
  const isGood = async (token: string) => (await post("auths/invitation/find", { token })).status === 200;
  const first = await invite(id);
  const second = await invite(id);
  expect([await isGood(first), await isGood(second)]).toEqual([false, true]);
  await post(`users/${id}/update`, { password: "Other-stones-4" }, admin.token);
  expect(await isGood(second)).toBe(false);
  const third = await invite(id);
  await admin.call(`DELETE /api/v1/users/${id}`);
  expect(await isGood(third)).toBe(false);
});

it("gives an account whose password was forgotten back, and ends its sessions", async () => {
  const user = await app.user();
  const token = await invite(user.id);
  expect((await user.call("GET /api/v1/auths")).status).toBe(200);
  expect((await post("auths/invitation", { token, password: "Found-stones-5" })).status).toBe(200);
  expect((await user.call("GET /api/v1/auths")).status).toBe(401);
});

it("is made by administrators, and not for the primary administrator by others", async () => {
  const user = await app.user();
  const other = await app.user("admin");
  expect((await post("users/invitations", { user_ids: [user.id] }, user.token)).status).toBe(403);
  expect((await post("users/invitations", { user_ids: [admin.id] }, other.token)).status).toBe(403);
  expect((await post("users/invitations", { user_ids: ["nobody"] }, admin.token)).status).toBe(404);
  expect((await admin.call("GET /api/v1/audit?action=user.invited")).status).toBe(200);
});
