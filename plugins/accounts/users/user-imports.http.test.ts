import { afterAll, beforeAll, expect, test } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
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

const run = (body: unknown, token = admin.token) => app.call("POST /api/v1/users/import", { token, body });
/** Runs an import to its end. */
async function add(users: unknown[], more: object = {}) {
  const { body } = await run({ users, ...more });
  expect(body).toMatchObject({ state: "running", total: users.length });
  const find = async () => (await admin.call(`GET /api/v1/users/import/${body.id}`)).body;
  await expect.poll(async () => (await find()).state).toBe("done");
  return await find();
}
const row = (email: string, more: object = {}) => ({
  name: "Grace",
  email,
  password: "Grinding-1-stones",
  role: "user",
  ...more,
});
const rows = [
  row("Grace@example.test"),
  row("grace@example.test "),
  row("no address"),
  row("short@example.test", { password: "short" }),
  row("boss@example.test", { role: "boss" }),
  row("nameless@example.test", { name: " " }),
  row("later@example.test", { role: "" }),
];
const count = async () => (await admin.call("GET /api/v1/users")).body.total as number;

test("tells before anything is written which accounts would be added, and why others are refused", async () => {
  const before = await count();
  const taken = row(user.email);
  const { body } = await run({ users: [...rows, taken], dry_run: true });
  expect(body.results.map(({ refusal }: { refusal: string | null }) => refusal)).toEqual([
    null,
    "This e-mail address is in the list twice.",
    "This is not an e-mail address.",
    "The password must have at least 8 characters.",
    "The role must be user, admin or pending.",
    "Name is required and must be at most 200 characters.",
    null,
    "This e-mail address belongs to an account already.",
  ]);
  expect(body).toMatchObject({ added: 2, refused: 6 });
  expect(await count()).toBe(before);
});

test("adds the accounts that it would add, each with its audit record, and nobody twice", async () => {
  const done = await add(rows);
  expect(done).toMatchObject({ added: 2, refused: 5, done: 7 });
  const signIn = { email: "grace@example.test", password: "Grinding-1-stones" };
  expect((await app.call("POST /api/v1/auths/signin", { body: signIn })).body.role).toBe("user");
  const audit = await admin.call("GET /api/v1/audit?action=user.created&query=Grace");
  expect(audit.body.records).toHaveLength(2);
  expect(await add(rows)).toMatchObject({ added: 0, refused: 7 });
});

test("asks for an own password at the first sign-in when it is told to", async () => {
  await add([row("first@example.test")], { change_password: true });
  const signIn = { email: "first@example.test", password: "Grinding-1-stones" };
  const { body: step } = await app.call("POST /api/v1/auths/signin", { body: signIn });
  expect(step).toMatchObject({ next_step: "password" });
  expect(step).not.toHaveProperty("token");
  const form = { token: step.invitation, password: "Own-stones-2" };
  const session = await app.call("POST /api/v1/auths/invitation", { body: form });
  expect(session.body).toMatchObject({ email: "first@example.test", token_type: "Bearer" });
  expect((await app.call("POST /api/v1/auths/invitation", { body: form })).status).toBe(404);
  const again = { ...signIn, password: form.password };
  expect((await app.call("POST /api/v1/auths/signin", { body: again })).body.token).toMatch(/./);
});

test("adds 500 accounts without a password, who sign in by links", async () => {
  const many = Array.from({ length: 500 }, (_, index) => row(`many${index}@example.test`, { password: "" }));
  const { results } = await add(many);
  const ids = results.map((line: { user_id: string }) => line.user_id);
  const made = await admin.call("POST /api/v1/users/invitations", { user_ids: ids });
  expect(new Set(made.body.invitations.map(({ path }: { path: string }) => path)).size).toBe(500);
});

test("is for administrators", async () => {
  expect((await run({ users: rows }, user.token)).status).toBe(403);
  expect((await user.call("GET /api/v1/users/import/none")).status).toBe(403);
  expect((await admin.call("GET /api/v1/users/import/none")).status).toBe(404);
});
