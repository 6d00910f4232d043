import { afterAll, beforeAll, expect, test } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { isJustNow } from "#test/support/clock/now.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
let admin: TestUser;
let user: TestUser;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
  user = await app.user();
});

afterAll(() => app?.close());

const signIn = async (client: string) =>
  (
    await app.call("POST /api/v1/auths/signin", {
      body: { email: user.email, password: "Correct-horse-1" },
      headers: { "user-agent": client },
    })
  ).body.token as string;
const statusOf = async (token: string) => (await app.call("GET /api/v1/auths", { token })).status;
const mine = async (token: string) => (await app.call("GET /api/v1/auths/sessions", { token })).body;
const socket = async (token: string) => {
  const opened = new WebSocket(`${app.url.replace("http", "ws")}/ws`);
  await new Promise((resolve) => opened.addEventListener("open", resolve));
  const ready = new Promise((resolve) => opened.addEventListener("message", resolve, { once: true }));
  opened.send(JSON.stringify({ type: "auth", token }));
  await ready;
  return { closed: new Promise<CloseEvent>((resolve) => opened.addEventListener("close", resolve)) };
};

test("tells where each session of the account began, and which one asks", async () => {
  const token = await signIn("Firefox of the mill");
  const sessions = await mine(token);
  const [current] = sessions.filter(({ is_current: isCurrent }: { is_current: boolean }) => isCurrent);
  expect(current).toMatchObject({
    client: "Firefox of the mill",
    address: expect.stringMatching(/127\.0\.0\.1|::1/),
    method: "password",
  });
  expect(isJustNow(current.created_at)).toBe(true);
  expect(JSON.stringify(sessions)).not.toContain("stamp");
  await app.call("POST /api/v1/auths/signout", { token });
  const left = await admin.call(`GET /api/v1/users/${user.id}/sessions`);
  expect(left.body.map(({ id }: { id: string }) => id)).not.toContain(current.id);
});

test("ends one session at once, with its socket, and leaves the others", async () => {
  const [kept, lost] = [await signIn("kept"), await signIn("lost")];
  const open = await socket(lost);
  const { id } = (await mine(kept)).find(({ client }: { client: string }) => client === "lost");
  expect((await admin.call(`DELETE /api/v1/auths/sessions/${id}`)).status).toBe(404);
  expect((await app.call(`DELETE /api/v1/auths/sessions/${id}`, { token: kept })).status).toBe(200);
  expect(await statusOf(lost)).toBe(401);
  await open.closed;
  expect(await statusOf(kept)).toBe(200);
  expect((await app.call(`DELETE /api/v1/auths/sessions/${id}`, { token: kept })).status).toBe(404);
  const other = await signIn("other");
  await app.call("DELETE /api/v1/auths/sessions", { token: kept });
  expect([await statusOf(other), await statusOf(kept)]).toEqual([401, 200]);
  expect(await mine(kept)).toHaveLength(1);
});

test("lets administrators end sessions of an account, and keeps a record of it", async () => {
  const [one, two] = [await signIn("one"), await signIn("two")];
  const list = `/api/v1/users/${user.id}/sessions`;
  expect((await app.call(`GET ${list}`, { token: two })).status).toBe(403);
  const { body } = await admin.call(`GET ${list}`);
  const { id } = body.find(({ client }: { client: string }) => client === "one");
  expect((await admin.call(`DELETE ${list}/${id}`)).status).toBe(200);
  expect([await statusOf(one), await statusOf(two)]).toEqual([401, 200]);
  expect((await admin.call(`DELETE ${list}`)).status).toBe(200);
  expect(await statusOf(two)).toBe(401);
  expect((await admin.call(`GET ${list}`)).body).toEqual([]);
  const audit = await admin.call(`GET /api/v1/audit?object_id=${user.id}`);
  const actions = audit.body.records.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(expect.arrayContaining(["user.session_revoked", "user.sessions_revoked"]));
});

test("keeps the sessions of the primary administrator from other administrators", async () => {
  const other = await app.user("admin");
  const list = `/api/v1/users/${admin.id}/sessions`;
  expect((await other.call(`DELETE ${list}`)).status).toBe(403);
  expect(await statusOf(admin.token)).toBe(200);
});
