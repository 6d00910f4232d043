import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { addFunction, require } from "../functions.fixture.ts";

let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
  await addFunction(app, "changing", toCode(0));
});

afterAll(() => app.close());

const at = (rest: string) => `/api/v1/functions/id/changing${rest}`;
const versions = async () => (await require(admin.call(`GET ${at("/versions")}`))).body;

function toCode(number: number): string {
  return `export function pipe() { return "${number}"; }`;
}

async function update(user: TestUser, content: string): Promise<void> {
  await require(user.call(`POST ${at("/update")}`, { name: "C", content }));
}

it("names who wrote a version, and makes none when the code stays", async () => {
  const other = await app.user("admin");
  await update(other, toCode(1));
  await update(other, toCode(1));
  expect(await versions()).toMatchObject([
    { version: 2, user: { id: other.id, name: other.name }, is_current: true },
    { version: 1, user: { id: admin.id }, is_current: false },
  ]);
});

it("makes one of each of two changes at the same time", async () => {
  await Promise.all([update(admin, toCode(2)), update(admin, toCode(3))]);
  expect((await versions()).map(({ version }: { version: number }) => version)).toEqual([4, 3, 2, 1]);
});

it("keeps the last fifty", async () => {
  for (let number = 5; number <= 55; number += 1) {
    await update(admin, toCode(number));
  }
  const kept = await versions();
  expect([kept.length, kept[0].version, kept.at(-1).version]).toEqual([50, 55, 6]);
  expect((await admin.call(`GET ${at("/versions/5")}`)).status).toBe(404);
});
