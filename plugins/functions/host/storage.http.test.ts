import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { defineRoute } from "#kernel/http/route.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { addHostAction, require, runAction } from "../functions.fixture.ts";

let app: App;
let admin: TestUser;
let member: TestUser;

/** Shows whose values are kept. */
const window = definePlugin({
  id: "window",
  title: "Window",
  setup: ({ db }) => ({
    routes: {
      main: [
        defineRoute(
          { method: "GET", path: "/test/stored", summary: "What is stored", access: "admin" },
          async () => {
            const { rows } = await sql`select user_id from function_storage where user_id <> ''`.execute(db);
            return rows;
          },
        ),
      ],
    },
  }),
});

beforeAll(async () => {
  app = await startApp({ plugins: [window], env: { FUNCTION_STORAGE_MAX_BYTES: "2000" } });
  admin = await app.admin();
  member = await app.user();
});

afterAll(() => app.close());

beforeEach(async () => {
  await require(admin.call("POST /api/v1/functions/sync", { functions: [] }));
});

const addAction = (id: string, code: string, capabilities: object = {}) =>
  addHostAction(app, { id, code, capabilities });
const act = (id: string, user: TestUser, body: object = {}) => runAction(app, { id, user, body });

describe("host.storage", () => {
  const storage = `const [name, ...args] = body.do; return await host.storage[name](...args) ?? null;`;
  const run = (id: string, user: TestUser, ...todo: unknown[]) => act(id, user, { do: todo });

  it("keeps values for all callers, and for each of them alone", async () => {
    await addAction("keep", storage, { storage: true });
    await run("keep", admin, "set", "a/1", { deep: [1] });
    await run("keep", admin, "set", "a/2", null);
    await run("keep", admin, "set", "mine", "admin's", { user: true });
    await run("keep", member, "set", "mine", "member's", { user: true });
    expect(await run("keep", member, "get", "a/1")).toEqual({ deep: [1] });
    expect(await run("keep", member, "list", "a/")).toEqual(["a/1", "a/2"]);
    expect(await run("keep", admin, "get", "mine", { user: true })).toBe("admin's");
    expect(await run("keep", member, "list", "", { user: true })).toEqual(["mine"]);
    expect(await run("keep", member, "get", "mine")).toBeNull();
    expect(await run("keep", admin, "delete", "a/1")).toBe(true);
    expect(await run("keep", admin, "delete", "a/1")).toBe(false);
    expect(await run("keep", admin, "get", "a/1")).toBeNull();
  });

  it("forgets what was kept for an account that is gone", async () => {
    await addAction("keep", storage, { storage: true });
    const guest = await app.user();
    await run("keep", guest, "set", "mine", 1, { user: true });
    const rows = async () => (await admin.call("GET /test/stored")).body as { user_id: string }[];
    expect((await rows()).map(({ user_id }) => user_id)).toContain(guest.id);
    await require(admin.call(`DELETE /api/v1/users/${guest.id}`));
    await expect.poll(async () => (await rows()).length).toBe(0);
  });

  it("is closed to other functions, to those that did not declare it, and beyond its quota", async () => {
    await addAction("keep", storage, { storage: true });
    await addAction("other", storage, { storage: true });
    await addAction("none", storage);
    await run("keep", admin, "set", "secret", "s");
    expect(await run("other", admin, "get", "secret")).toBeNull();
    expect((await run("none", admin, "get", "secret")).refused).toContain("did not declare storage");
    await run("keep", admin, "set", "big", "x".repeat(1500));
    expect((await run("keep", admin, "set", "more", "x".repeat(600))).refused).toContain("2000 bytes");
    expect(await run("keep", admin, "set", "big", "small again")).toBeNull();
    expect((await run("keep", admin, "set", "", 1)).refused).toContain("1 to 256");
  });
});
