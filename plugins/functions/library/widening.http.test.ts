import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { addFunction, require, runAction } from "../functions.fixture.ts";

let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
});

afterAll(() => app?.close());

beforeEach(async () => {
  await require(admin.call("POST /api/v1/functions/sync", { functions: [] }));
});

const call = (route: string, body?: object) =>
  app.call(route as "GET /api/v1/functions/", { token: admin.token, ...(body && { body }) } as never);
const at = (path: string) => `POST /api/v1/functions/id/helper${path}`;
const toCode = (capabilities: object, answer = 1) =>
  `export const meta = { capabilities: ${JSON.stringify(capabilities)} };
   export const action = () => ({ answer: ${answer} });`;
const update = async (capabilities: object, answer = 1) =>
  (await require(call(at("/update"), { name: "helper", content: toCode(capabilities, answer) }))).body;
const run = () => runAction(app, { id: "helper", user: admin, body: {} });

const reason =
  "Switched off because the last change widened what the code may do (fetch: evil.test, complete). Enable it again to allow that.";

it("an update that widens the capabilities switches the function off until an administrator enables it again", async () => {
  await addFunction(app, "helper", toCode({ fetch: ["a.test"] }), { global: true });
  const code = `export const event = ({ event, data }) => console.log(event, data.id, data.reason);`;
  await addFunction(app, "witness", code);
  const heard = async (): Promise<string[]> =>
    (await require(call("GET /api/v1/functions/id/witness/logs"))).body.lines.map(
      ({ text }: { text: string }) => text,
    );

  expect(await update({ fetch: ["a.test"] }, 2)).toMatchObject({ is_active: true, error: null });
  expect(await run()).toEqual({ answer: 2 });

  const wide = { fetch: ["a.test", "evil.test"], complete: true };
  expect(await update(wide, 3)).toMatchObject({ is_active: false, error: reason });
  await expect(run()).rejects.toThrow("404");
  const listed = (await require(call("GET /api/v1/functions/list"))).body;
  expect(listed).toMatchObject([{ id: "helper", is_active: false, error: reason }, { id: "witness" }]);
  await expect.poll(heard).toContain(`function.disabled helper ${reason}`);

  // Another change while it waits neither switches it on nor hides why it is off.
  expect(await update(wide, 4)).toMatchObject({ is_active: false, error: reason });
  expect((await require(call(at("/toggle")))).body).toMatchObject({ is_active: true, error: null });
  expect(await run()).toEqual({ answer: 4 });
  // What was allowed once may be kept and given up.
  expect(await update(wide, 5)).toMatchObject({ is_active: true });
  expect(await update({}, 6)).toMatchObject({ is_active: true });
});

it("an earlier version with wider capabilities waits, too", async () => {
  await addFunction(app, "helper", toCode({ storage: true }), { global: true });
  expect(await update({}, 2)).toMatchObject({ is_active: true });
  const { body } = await require(call(at("/versions/1/restore")));
  expect(body).toMatchObject({ is_active: false, error: expect.stringContaining("(storage)") });
});

it("so does a library that is synced over it", async () => {
  await addFunction(app, "helper", toCode({}), { global: true });
  const sent = { id: "helper", name: "helper", content: toCode({ complete: true }), is_active: true };
  const { body } = await require(call("POST /api/v1/functions/sync", { functions: [sent] }));
  expect(body).toMatchObject([{ is_active: false, error: expect.stringContaining("(complete)") }]);
});

it("code that declares more while it is off needs nothing but to be enabled", async () => {
  await addFunction(app, "helper", toCode({}), { active: false });
  expect(await update({ complete: true })).toMatchObject({ is_active: false, error: null });
  expect((await require(call(at("/toggle")))).body).toMatchObject({ is_active: true });
});
