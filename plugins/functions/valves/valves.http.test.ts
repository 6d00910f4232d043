import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { addFunction, removeFunction, require } from "../functions.fixture.ts";

const code = `
export const valves = {
  key: { type: "string", input: { type: "password" }, title: "Key" },
  region: { type: "string", default: "eu", input: { type: "select", options: "regions" } },
};
export const userValves = {
  tone: { type: "string", enum: ["plain", "kind"], default: "plain" },
  token: { type: "string", input: { type: "password" } },
};
export function regions(user) { return ["eu", { value: "us", label: "US for " + user.name }]; }
export function pipe(body, { valves, userValves }) { return JSON.stringify({ valves, userValves }); }`;

/** Reads what the database holds, as a backup would; a function was there before the server started. */
let dump: () => Promise<string>;
const window = definePlugin({
  id: "window",
  title: "Window",
  async setup({ db }) {
    const old = { id: "old", name: "Old", valves: JSON.stringify({ key: "saved-in-clear" }) };
    await sql`insert into function (id, user_id, name, type, content, valves, created_at, updated_at)
      values (${old.id}, '', ${old.name}, 'pipe', ${code}, ${old.valves}::jsonb, 1, 1)`.execute(db);
    dump = async () => {
      const { rows: kept } = await sql`select id, valves::text from function`.execute(db);
      const { rows: own } = await sql`select settings::text from "user"`.execute(db);
      return JSON.stringify([kept, own]);
    };
    return {};
  },
});

describe.each([
  ["off", "false"],
  ["on", "true"],
])("with valve encryption %s", (state, encrypts) => {
  let app: App;
  let admin: TestUser;
  let member: TestUser;

  beforeAll(async () => {
    app = await startApp({ plugins: [window], env: { ENABLE_VALVE_ENCRYPTION: encrypts } });
    admin = await app.admin();
    member = await app.user();
    await addFunction(app, "shop", code);
    const record = { id: "open", name: "Open", base_model_id: "shop", params: {}, meta: {} };
    const everyone = [{ principal_type: "user", principal_id: "*", permission: "read" }];
    const base = { id: "shop", name: "Shop", base_model_id: null, params: {}, meta: {} };
    for (const model of [base, record]) {
      const body = { ...model, access_grants: everyone };
      await require(admin.call("POST /api/v1/models/create", body));
    }
  });

  afterAll(() => app.close());

  const at = (rest: string) => `/api/v1/functions/id/shop/valves${rest}`;
  const seenBy = async ({ token }: TestUser) => {
    const body = { model: "open", messages: [{ role: "user", content: "x" }] };
    const answer = await require(app.call("POST /api/chat/completions", { token, body }));
    return JSON.parse(answer.body.choices[0].message.content);
  };

  it("the form is JSON Schema, with options that the code lists for the user", async () => {
    expect((await require(admin.call(`GET ${at("/spec")}`))).body).toMatchObject({
      type: "object",
      properties: {
        key: { type: "string", input: { type: "password" } },
        region: { input: { type: "select", options: ["eu", { value: "us", label: "US for admin" }] } },
      },
    });
    expect((await require(member.call(`GET ${at("/user/spec")}`))).body.properties.tone).toEqual({
      title: "Tone",
      type: "string",
      enum: ["plain", "kind"],
      default: "plain",
    });
  });

  it("each person has values of their own, over the defaults", async () => {
    const wrong = await member.call(`POST ${at("/user/update")}`, { tone: "rude" });
    expect([wrong.status, wrong.body.detail]).toEqual([400, expect.stringMatching(/^tone: /)]);
    const large = { token: "x".repeat(70_000) };
    expect((await member.call(`POST ${at("/user/update")}`, large)).status).toBe(413);
    const body = { tone: "kind", token: "members-own-secret", unknown: 1 };
    const saved = await require(member.call(`POST ${at("/user/update")}`, body));
    expect(saved.body).toEqual({ tone: "kind", token: "members-own-secret" });
    expect((await seenBy(member)).userValves).toEqual({ tone: "kind", token: "members-own-secret" });
    expect((await seenBy(admin)).userValves).toEqual({ tone: "plain" });
    expect((await require(admin.call(`GET ${at("/user")}`))).body).toEqual({});

    // The interface's own settings live in the same place and stay.
    const ui = { ui: { theme: "dark" } };
    await require(member.call("POST /api/v1/users/user/settings/update", ui));
    expect((await require(member.call(`GET ${at("/user")}`))).body.tone).toBe("kind");
  });

  it("the instance's are for administrators", async () => {
    const body = { key: "instance-secret", region: null };
    expect((await member.call(`POST ${at("/update")}`, body)).status).toBe(403);
    await require(admin.call(`POST ${at("/update")}`, body));
    expect((await seenBy(member)).valves).toEqual({ key: "instance-secret", region: "eu" });
    for (const list of ["", "/list", "/export", "/id/shop"]) {
      const { text } = await require(admin.call(`GET /api/v1/functions${list}`));
      expect(text).not.toContain("instance-secret");
    }
    const full = await require(admin.call("GET /api/v1/functions/export?include_valves=true"));
    expect(full.body.map(({ id, valves }: { id: string; valves: object }) => [id, valves])).toEqual([
      ["old", { key: "saved-in-clear" }],
      ["shop", { key: "instance-secret" }],
    ]);
  });

  it("no secret can be read in the database when it is on", async () => {
    const text = await dump();
    for (const secret of ["instance-secret", "members-own-secret", "saved-in-clear"]) {
      expect(text.includes(secret)).toBe(state === "off");
    }
  });

  it("people's own values go with the function", async () => {
    await removeFunction(app, "shop");
    await addFunction(app, "shop", code);
    expect((await require(member.call(`GET ${at("/user")}`))).body).toEqual({});
    expect((await require(admin.call(`GET ${at("")}`))).body).toEqual({});
  });

  it("a function without valves has no form and takes none", async () => {
    await addFunction(app, "plain", `export function pipe() { return "x"; }`);
    const plain = (rest: string) => `/api/v1/functions/id/plain/valves${rest}`;
    expect((await require(admin.call(`GET ${plain("/spec")}`))).text).toBe("null");
    expect((await admin.call(`POST ${plain("/update")}`, {})).status).toBe(404);
    expect((await member.call("GET /api/v1/functions/id/none/valves/user")).status).toBe(404);
    await removeFunction(app, "plain");
  });
});
