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
    const settings = await app.call("POST /api/v1/users/user/settings/update", {
      token: user.token,
      body: { ui: bag },
    });
    expect([
      settings.status,
      Object.keys(settings.body.ui)
        .filter((key) => words.includes(key))
        .toSorted(),
    ]).toEqual([200, words.toSorted()]);
    const info = await app.call("POST /api/v1/users/user/info/update", { token: user.token, body: bag });
    expect([info.status, Object.hasOwn(info.body, "constructor")]).toEqual([200, true]);
    expect(untouched()).toEqual(clean);
  });

  it("are sections like any other in permissions, and give nobody anything", async () => {
    const tree = {
      constructor: { keys: false, assign: false, entries: false },
      features: { constructor: true },
    };
    const group = await app.call("POST /api/v1/groups/create", {
      token: admin.token,
      body: { name: "Words", description: "", permissions: tree },
    });
    expect(group.status).toBe(200);
    await app.call(`POST /api/v1/groups/id/${group.body.id}/users/add`, {
      token: admin.token,
      body: { user_ids: [user.id] },
    });
    expect((await app.call("GET /api/v1/users/permissions", { token: user.token })).status).toBe(200);
    const stored = await app.call("POST /api/v1/users/default/permissions", {
      token: admin.token,
      body: tree,
    });
    expect([stored.status, stored.body.constructor]).toEqual([200, tree.constructor]);
    expect(untouched()).toEqual(clean);
    expect(
      (await app.call("POST /api/v1/users/default/permissions", { token: admin.token, body: {} })).status,
    ).toBe(200);
  });

  it.each(["users/user/settings/update", "users/user/info/update", "users/user/variables/update"])(
    "with underscores are refused before anybody reads them at %s",
    async (path) => {
      for (const text of [
        '{"__proto__":{"polluted":true}}',
        '{"ui":{"__proto__":{"polluted":true}}}',
        '{"a":[{"\\u005f_proto__":{"polluted":true}}]}',
      ]) {
        expect((await app.call(`POST /api/v1/${path}`, { token: user.token, body: text })).status).toBe(400);
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
    const taken = await app.call("POST /api/v1/configs/import", { token: admin.token, body: bag });
    expect([taken.status, taken.body.imported]).toEqual([200, []]);
    for (const word of words) {
      expect(
        (await app.call("POST /api/v1/configs/settings", { token: admin.token, body: { [word]: 1 } })).status,
      ).toBe(422);
      expect((await app.call(`DELETE /api/v1/configs/settings/${word}`, { token: admin.token })).status).toBe(
        404,
      );
      expect(
        (
          await app.call("POST /api/chat/completions", {
            token: user.token,
            body: { model: word, messages: [{ role: "user", content: "Hi" }] },
          })
        ).status,
      ).toBe(404);
    }
    expect(untouched()).toEqual(clean);
  });
});
