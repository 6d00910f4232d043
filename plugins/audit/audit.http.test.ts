import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
let admin: TestUser;
let user: TestUser;

const secret = "sk-provider-secret-that-nobody-sees";

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
  user = await app.user();
});

afterAll(() => app?.close());

const list = async (query = "") =>
  (await admin.call(`GET /api/v1/audit${query}`)).body as {
    records: Record<string, unknown>[];
    next: number | null;
  };
const set = async (body: Record<string, unknown>) =>
  await admin.call("POST /api/v1/configs/settings", body, { "user-agent": "audit-test/1" });

describe("settings", () => {
  it("are recorded with who, from where, before and after", async () => {
    await set({ DEFAULT_LOCALE: "de-CH" });
    const { records } = await list("?object_type=setting&object_id=DEFAULT_LOCALE");
    expect(records).toEqual([
      {
        id: expect.any(Number),
        created_at: expect.any(Number),
        actor_id: admin.id,
        actor_name: admin.name,
        actor_role: "admin",
        action: "setting.updated",
        object_type: "setting",
        object_id: "DEFAULT_LOCALE",
        object_name: null,
        before: { value: "", source: "default" },
        after: { value: "de-CH", source: "stored" },
        complete: true,
        address: expect.stringMatching(/127\.0\.0\.1|::1/),
        client: "audit-test/1",
        request_id: expect.any(String),
      },
    ]);
  });

  it("are recorded once they change, not when they stay, and not when a change is refused", async () => {
    await set({ DEFAULT_LOCALE: "de-CH" });
    await set({ DEFAULT_LOCALE: "fr", ENABLE_SIGNUP: "perhaps" });
    expect((await list("?object_id=DEFAULT_LOCALE")).records).toHaveLength(1);
    await admin.call("DELETE /api/v1/configs/settings/DEFAULT_LOCALE");
    expect((await list("?object_id=DEFAULT_LOCALE")).records[0]).toMatchObject({
      before: { value: "de-CH", source: "stored" },
      after: { value: "", source: "default" },
    });
  });

  it("keep their secrets out of the record", async () => {
    await set({ OPENAI_API_KEYS: [secret] });
    await set({ OPENAI_API_KEYS: [`${secret}-2`] });
    const { records } = await list("?object_id=OPENAI_API_KEYS");
    expect(records[0]).toMatchObject({ before: { value: "********" }, after: { value: "********" } });
    expect(JSON.stringify(records)).not.toContain(secret);
  });
});

describe("accounts, groups and models", () => {
  const actions = async (query: string) =>
    (await list(query)).records.map(({ action }) => action).toReversed();

  it("are recorded from their beginning to their end, and not when nothing changes", async () => {
    const token = admin.token;
    const person = await app.user();
    const change = async (body: object) =>
      await app.call(`POST /api/v1/users/${person.id}/update`, { token, body });
    await change({ role: "admin", name: person.name, email: person.email });
    await change({ role: "admin", name: person.name, email: person.email });
    await change({ role: "admin", name: person.name, email: person.email, password: "Water-wheels-2" });
    await app.call(`DELETE /api/v1/users/${person.id}`, { token });
    const { records } = await list(`?object_type=user&object_id=${person.id}`);
    expect(records.map(({ action, before, after }) => ({ action, before, after })).toReversed()).toEqual([
      {
        action: "user.created",
        before: null,
        after: { name: person.name, email: person.email, role: "user" },
      },
      { action: "user.updated", before: { role: "user" }, after: { role: "admin" } },
      { action: "user.updated", before: {}, after: { password_changed: true } },
      {
        action: "user.deleted",
        before: { name: person.name, email: person.email, role: "admin" },
        after: null,
      },
    ]);
    expect(JSON.stringify(records)).not.toContain("Water-wheels");
  });

  it("name members, permissions and grants", async () => {
    const token = admin.token;
    const group = await app.call("POST /api/v1/groups/create", {
      token,
      body: { name: "Editors", description: "" },
    });
    const { id } = group.body as { id: string };
    await app.call(`POST /api/v1/groups/id/${id}/users/add`, { token, body: { user_ids: [user.id] } });
    await app.call(`POST /api/v1/groups/id/${id}/update`, {
      token,
      body: { name: "Editors", description: "", permissions: { workspace: { models: true } } },
    });
    expect(await actions(`?object_id=${id}`)).toEqual([
      "group.created",
      "group.member_added",
      "group.updated",
    ]);
    const form = { id: "audited", name: "Audited", base_model_id: null, meta: {}, params: {} };
    await app.call("POST /api/v1/models/create", { token, body: form });
    const grant = { principal_type: "group", principal_id: id, permission: "read" };
    await app.call("POST /api/v1/models/model/access/update", {
      token,
      body: { id: "audited", access_grants: [grant] },
    });
    await app.call("POST /api/v1/models/model/toggle?id=audited", { token });
    await app.call("POST /api/v1/models/model/delete", { token, body: { id: "audited" } });
    const { records } = await list("?object_type=model&object_id=audited");
    expect(records.map(({ action, after }) => [action, after]).toReversed()).toEqual([
      ["model.created", expect.objectContaining({ name: "Audited" })],
      ["model.updated", { access_grants: [grant] }],
      ["model.updated", { is_active: false }],
      ["model.deleted", null],
    ]);
  });
});

describe("the list", () => {
  it("narrows down and pages by keyset", async () => {
    await set({ RESPONSE_WATERMARK: "one" });
    await set({ RESPONSE_WATERMARK: "two" });
    await set({ RESPONSE_WATERMARK: "three" });
    const first = await list("?query=watermark&limit=2");
    expect(first.records.map(({ after }) => (after as { value: string }).value)).toEqual(["three", "two"]);
    const second = await list(`?query=watermark&limit=2&before_id=${first.next}`);
    expect(second).toMatchObject({ records: [{ after: { value: "one" } }], next: null });
    expect((await list("?actor_id=nobody")).records).toEqual([]);
    expect((await list("?since=4000000000")).records).toEqual([]);
    expect((await admin.call("GET /api/v1/audit/choices")).body).toMatchObject({
      actions: expect.arrayContaining(["setting.updated"]),
      object_types: expect.arrayContaining(["setting"]),
      actors: expect.arrayContaining([{ id: admin.id, name: admin.name }]),
    });
  });

  it("is exported as JSON Lines, the earliest first", async () => {
    const answer = await admin.call("GET /api/v1/audit/export?query=watermark");
    expect(answer.headers.get("content-type")).toMatch(/^application\/jsonl/);
    const lines = answer.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ after }) => after.value)).toEqual(["one", "two", "three"]);
  });

  it.each(["GET /api/v1/audit", "GET /api/v1/audit/choices", "GET /api/v1/audit/export"])(
    "%s is for administrators alone",
    async (route) => {
      expect((await app.call(route)).status).toBe(401);
      expect((await user.call(route)).status).toBe(403);
    },
  );
});

describe("the table", () => {
  it.each(["update audit_record set action = 'x'", "delete from audit_record", "truncate audit_record"])(
    "refuses %s",
    async (statement) => {
      await expect(app.running.database.query(statement)).rejects.toThrow("append-only");
    },
  );
});
