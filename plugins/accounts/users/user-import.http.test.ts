import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

let app: App;
let admin: TestUser;
let user: TestUser;

beforeAll(async () => {
  app = await startApp();
  admin = await app.admin();
  user = await app.user();
});

afterAll(() => app?.close());

const run = (body: unknown, token = admin.token) => app.call("POST /api/v1/users/import", { token, body });
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
const count = async () => (await app.call("GET /api/v1/users", { token: admin.token })).body.total as number;

test("tells before anything is written which accounts would be added, and why others are refused", async () => {
  const before = await count();
  const taken = row(user.email);
  const { body } = await run({ users: [...rows, taken], dry_run: true });
  expect(body.results.map(({ refusal }: { refusal: string | null }) => refusal)).toEqual([
    null,
    "This e-mail address stands in the list twice.",
    "This is no e-mail address.",
    "The password must have at least 8 characters.",
    "The role must be user, admin or pending.",
    "The name is missing or longer than 200 characters.",
    null,
    "This e-mail address belongs to an account already.",
  ]);
  expect(body).toMatchObject({ added: 2, refused: 6 });
  expect(await count()).toBe(before);
});

test("adds the accounts that it would add, each with its audit record, and nobody twice", async () => {
  const { body } = await run({ users: rows });
  expect(body).toMatchObject({ added: 2, refused: 5 });
  const signIn = { email: "grace@example.test", password: "Grinding-1-stones" };
  expect((await app.call("POST /api/v1/auths/signin", { body: signIn })).body.role).toBe("user");
  const audit = await app.call("GET /api/v1/audit?action=user.created&query=Grace", { token: admin.token });
  expect(audit.body.records).toHaveLength(2);
  expect((await run({ users: rows })).body).toMatchObject({ added: 0, refused: 7 });
});

test("is for administrators, and refuses more accounts than one request can hash", async () => {
  expect((await run({ users: rows }, user.token)).status).toBe(403);
  const many = Array.from({ length: 101 }, (_, index) => row(`p${index}@example.test`));
  expect((await run({ users: many })).status).toBe(400);
  expect((await run({ users: many, dry_run: true })).body.added).toBe(101);
});
