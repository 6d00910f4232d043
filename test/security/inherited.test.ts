import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

let app: App;
let admin: TestUser;
let user: TestUser;

beforeAll(async () => {
  app = await startApp();
  [admin, user] = [await app.admin(), await app.user()];
});
afterAll(() => app?.close());

describe("words that all objects inherit", () => {
  const words = ["constructor", "toString", "hasOwnProperty", "valueOf", "prototype", "__defineGetter__"];
  const untouched = () => [
    Object.keys({ a: 1 }).join(),
    typeof Object.assign,
    ({} as Record<string, unknown>)["polluted"],
    Object.getOwnPropertyNames(Object.prototype).length,
  ];
  const clean = untouched();

  it("are words like any other in settings and info", async () => {
    const bag = Object.fromEntries(
      words.map((word) => [word, { polluted: true, prototype: { polluted: true } }]),
    );
    const settings = await user.call("POST /api/v1/users/user/settings/update", { ui: bag });
    expect([
      settings.status,
      Object.keys(settings.body.ui)
        .filter((key) => words.includes(key))
        .toSorted(),
    ]).toEqual([200, words.toSorted()]);
    const info = await user.call("POST /api/v1/users/user/info/update", bag);
    expect([info.status, Object.hasOwn(info.body, "constructor")]).toEqual([200, true]);
    expect(untouched()).toEqual(clean);
  });

  it("are sections like any other in permissions, and give nobody anything", async () => {
    const tree = {
      constructor: { keys: false, assign: false, entries: false },
      features: { constructor: true },
    };
    const group = await admin.call("POST /api/v1/groups/create", {
      name: "Words",
      description: "",
      permissions: tree,
    });
    expect(group.status).toBe(200);
    await admin.call(`POST /api/v1/groups/id/${group.body.id}/users/add`, { user_ids: [user.id] });
    expect((await user.call("GET /api/v1/users/permissions")).status).toBe(200);
    const stored = await admin.call("POST /api/v1/users/default/permissions", tree);
    expect([stored.status, stored.body.constructor]).toEqual([200, tree.constructor]);
    expect(untouched()).toEqual(clean);
    expect((await admin.call("POST /api/v1/users/default/permissions", {})).status).toBe(200);
  });

  it.each(["users/user/settings/update", "users/user/info/update", "users/user/variables/update"])(
    "with underscores are refused before anybody reads them at %s",
    async (path) => {
      for (const text of [
        '{"__proto__":{"polluted":true}}',
        '{"ui":{"__proto__":{"polluted":true}}}',
        '{"a":[{"\\u005f_proto__":{"polluted":true}}]}',
      ]) {
        expect((await user.call(`POST /api/v1/${path}`, text)).status).toBe(400);
      }
      expect(untouched()).toEqual(clean);
    },
  );

  it("reach no variable and no model by import and settings", async () => {
    const bag = {
      config: {
        constructor: { prototype: { polluted: true } },
        "constructor.prototype.polluted": true,
        __proto__x: { a: 1 },
      },
    };
    const taken = await admin.call("POST /api/v1/configs/import", bag);
    expect([taken.status, taken.body.imported]).toEqual([200, []]);
    for (const word of words) {
      expect((await admin.call("POST /api/v1/configs/settings", { [word]: 1 })).status).toBe(422);
      expect((await admin.call(`DELETE /api/v1/configs/settings/${word}`)).status).toBe(404);
      expect(
        (
          await user.call("POST /api/chat/completions", {
            model: word,
            messages: [{ role: "user", content: "Hi" }],
          })
        ).status,
      ).toBe(404);
    }
    expect(untouched()).toEqual(clean);
  });
});
