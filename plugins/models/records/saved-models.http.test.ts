import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestUser } from "#test/support/app.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { everybody, type ModelsApp, reads, startModels, writes } from "../models.fixture.ts";

let at: ModelsApp;
let admin: TestUser;
let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  at = await startModels();
  admin = at.admin;
  owner = await at.builder();
  other = await at.app.user();
  await at.post("model/access/update", { id: "alpha", access_grants: [everybody] });
});
afterAll(() => at.close());

const form = (id: string, more: object = {}) => ({
  id,
  name: `Model ${id}`,
  base_model_id: "alpha",
  meta: { description: "Knows ships" },
  params: { system: "You are a pilot.", temperature: 0.3 },
  ...more,
});
const find = (id: string, by = owner) => at.get(`model?id=${encodeURIComponent(id)}`, by);

describe("the life of a model", () => {
  it("is saved, used, changed, switched off, and deleted", async () => {
    const { body: made, status } = await at.post("create", form("pilot"), owner);
    expect([status, made]).toEqual([
      200,
      {
        ...form("pilot"),
        model: "pilot",
        user_id: owner.id,
        access_grants: [],
        is_active: true,
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
        user: { id: owner.id, name: owner.name, email: owner.email, role: "user" },
        write_access: true,
      },
    ]);
    expect(await at.listed(owner)).toEqual(["alpha", "pilot"]);
    expect(await at.listed(other)).toEqual(["alpha"]);

    const changed = await at.post("model/update", { id: "pilot", params: { temperature: 0.9 } }, owner);
    expect(changed.body).toMatchObject({
      name: "Model pilot",
      params: { temperature: 0.9 },
      meta: form("").meta,
    });

    expect((await at.post("model/toggle?id=pilot", undefined, owner)).body.is_active).toBe(false);
    expect(await at.listed(owner)).toEqual(["alpha"]);
    expect((await at.post("model/toggle?id=pilot", undefined, owner)).body.is_active).toBe(true);

    expect((await at.post("model/delete", { id: "pilot" }, owner)).body).toBe(true);
    expect((await find("pilot")).status).toBe(404);
    expect(await at.listed(owner)).toEqual(["alpha"]);
  });

  it("is listed and called by a published client, with its saved parameters", async () => {
    await at.post("create", form("navigator", { access_grants: [reads(other)] }), owner);
    at.upstream.always("/chat/completions", text("Ahoy"));
    const sdk = new OpenAI({ baseURL: `${at.app.url}/api`, apiKey: other.token, maxRetries: 0 });
    const ids: string[] = [];
    for await (const model of sdk.models.list()) {
      ids.push(model.id);
    }
    expect(ids).toEqual(["alpha", "navigator"]);
    const answer = await sdk.chat.completions.create({
      model: "navigator",
      messages: [{ role: "user", content: "Hi" }],
      top_p: 0.5,
    });
    expect(answer.choices[0]?.message.content).toBe("Ahoy");
    expect(at.upstream.requests.at(-1)?.body).toMatchObject({
      model: "alpha",
      temperature: 0.3,
      top_p: 0.5,
      messages: [{ role: "system", content: "You are a pilot." }, { role: "user" }],
    });
  });

  it("is announced at every step, with who did it", async () => {
    const before = at.heard.length;
    await at.post("create", form("told"), owner);
    await at.post("model/update", { id: "told", name: "Told" }, owner);
    await at.post("model/access/update", { id: "told", access_grants: [reads(other)] }, owner);
    await at.post("model/toggle?id=told", undefined, owner);
    await at.post("model/toggle?id=told", undefined, owner);
    await at.post("model/delete", { id: "told" }, owner);
    const told = at.heard.slice(before);
    expect(told.map(({ event }) => event)).toEqual([
      "model.created",
      "model.updated",
      "model.access_updated",
      "model.disabled",
      "model.enabled",
      "model.deleted",
    ]);
    for (const { actor, subject } of told) {
      expect([actor?.id, subject]).toEqual([owner.id, { type: "model", id: "told" }]);
    }
  });
});

describe("a shared model", () => {
  const secret = { system: "secret prompt", temperature: 0.123 };
  const control = {
    id: "depth",
    label: "Depth",
    default: "low",
    options: [
      { id: "low", label: "Low" },
      { id: "high", label: "High", params: { reasoning_effort: "hush" }, system: "hush hush" },
    ],
  };

  it("shows readers what it is, not how it is made (S53)", async () => {
    const params = { ...secret, model_controls: [control] };
    const meta = { knowledge: [{ type: "collection", id: "k-1" }], description: "Open" };
    await at.post("create", form("shared", { params, meta, access_grants: [reads(other)] }), admin);
    const { body, text: shown } = await find("shared", other);
    expect(body).toMatchObject({ meta: { description: "Open" }, write_access: false });
    expect(body.params).toEqual({
      model_controls: [{ ...control, options: [control.options[0], { id: "high", label: "High" }] }],
    });
    const listed = (await at.get("/api/models", other)).text;
    const paged = (await at.get("list", other)).text;
    for (const hidden of ["secret prompt", "0.123", "hush", "k-1", "access_grants"]) {
      expect([shown, listed, paged].map((answer) => answer.includes(hidden))).toEqual([false, false, false]);
    }
    expect((await find("shared", admin)).body.params).toEqual(params);
  });

  it("may be changed by those who may write it, and by nobody else", async () => {
    const [reader, writer, stranger] = [await at.app.user(), await at.app.user(), await at.app.user()];
    await at.post("create", form("guarded", { access_grants: [reads(reader), writes(writer)] }), owner);
    const tries = (by: TestUser) =>
      Promise.all(
        [
          ["model/update", { id: "guarded", name: "Taken over" }],
          ["model/access/update", { id: "guarded", access_grants: [] }],
          ["model/toggle?id=guarded", undefined],
          ["model/delete", { id: "guarded" }],
        ].map(async ([path, body]) => (await at.post(path as string, body, by)).status),
      );
    expect(await tries(reader)).toEqual([403, 403, 403, 403]);
    expect(await tries(stranger)).toEqual([404, 404, 404, 404]);
    expect((await find("guarded", stranger)).text).toBe((await find("absent", stranger)).text);
    expect((await find("guarded")).body).toMatchObject({ name: "Model guarded", is_active: true });
    expect((await at.post("model/update", { id: "guarded", name: "Ours" }, writer)).body).toMatchObject({
      name: "Ours",
      user_id: owner.id,
      write_access: true,
    });
  });

  it("is shared with everybody only by those who may, without an error for the others", async () => {
    const publisher = await at.builder({ workspace: { models: true }, sharing: { public_models: true } });
    const grants = [everybody, reads(other), { ...everybody, principal_type: "anyone" }];
    const kept = async (id: string, by: TestUser) => {
      const { body } = await at.post("create", form(id, { access_grants: grants }), by);
      return body.access_grants.map((grant: { principal_type: string; principal_id: string }) => [
        grant.principal_type,
        grant.principal_id,
      ]);
    };
    expect(await kept("half-open", owner)).toEqual([["user", other.id]]);
    expect(await kept("open", publisher)).toEqual([
      ["user", "*"],
      ["user", other.id],
    ]);
    // Whoever may write it sends the grants back as they were: nothing is taken away.
    const sent = [everybody, writes(owner)];
    await at.post("model/access/update", { id: "open", access_grants: sent }, publisher);
    const { body } = await at.post("model/update", { ...form("open"), access_grants: sent }, owner);
    expect(body.access_grants).toMatchObject(sent);
  });

  it("is not shared with accounts and groups that do not exist", async () => {
    const nobody = { ...everybody, principal_id: "nobody" };
    const grants = [nobody, { ...nobody, principal_type: "group" }, reads(other)];
    const { body } = await at.post("create", form("ghost", { access_grants: grants }), admin);
    expect(body.access_grants.map((grant: { principal_id: string }) => grant.principal_id)).toEqual([
      other.id,
    ]);
  });
});

describe("chains", () => {
  it("open nothing that the caller may not use below", async () => {
    await at.post("create", form("over-beta", { base_model_id: "beta", access_grants: [everybody] }), admin);
    await at.post("create", form("top", { base_model_id: "middle", access_grants: [everybody] }), admin);
    await at.post("create", form("middle", { params: { system: "middle", top_p: 0.2 } }), admin);
    const ids = await at.listed(other);
    expect([ids.includes("over-beta"), ids.includes("top")]).toEqual([false, false]);
    const ask = (model: string) =>
      at.post("/api/chat/completions", { model, messages: [{ role: "user", content: "Hi" }] }, other);
    expect([(await ask("over-beta")).status, (await ask("top")).status]).toEqual([404, 404]);
    // A user's own model over a closed one opens it as little.
    await at.post("create", form("burglar", { base_model_id: "beta" }), owner);
    expect(await at.listed(owner)).not.toContain("burglar");

    await at.post("model/access/update", { id: "middle", access_grants: [reads(other)] });
    expect(await at.listed(other)).toContain("top");
    expect((await ask("top")).status).toBe(200);
    expect(at.upstream.requests.at(-1)?.body).toMatchObject({ temperature: 0.3, top_p: 0.2 });
    await at.post("model/access/update", { id: "middle", access_grants: [] });
    expect((await ask("top")).status).toBe(404);
  });

  it("do not turn in circles and are not endless", async () => {
    await at.post("create", form("ring-a", { base_model_id: "ring-b" }), owner);
    const closed = await at.post("create", form("ring-b", { base_model_id: "ring-a" }), owner);
    expect([closed.status, closed.body.detail]).toEqual([400, expect.stringContaining("base_model_id")]);
    expect((await at.post("create", form("self", { base_model_id: "self" }), owner)).status).toBe(400);
    const models = Array.from({ length: 40 }, (_, n) =>
      form(`link-${n}`, { base_model_id: `link-${n + 1}` }),
    );
    expect((await at.post("import", { models }, owner)).status).toBe(400);
    expect((await find("link-0")).status).toBe(404);
  });
});

describe("ids", () => {
  it.each<[string, () => unknown, number]>([
    ["that is taken", () => form("taken"), 409],
    ["of a provider's model", () => form("beta"), 409],
    ["with 257 characters", () => form("x".repeat(257)), 400],
    ["with a control character", () => form("a\nb"), 400],
    ["with a space at the end", () => form("a "), 400],
    ["with a NUL", () => form("a\0b"), 422],
    ["that is empty", () => form(""), 422],
  ])("an id %s is refused", async (_name, make, status) => {
    await at.post("create", form("taken"), admin);
    const before = (await at.get("all")).body.length;
    expect((await at.post("create", make(), owner)).status).toBe(status);
    expect((await at.get("all")).body.length).toBe(before);
  });

  it("with slashes, quotes, spaces and signs of every script work everywhere", async () => {
    const id = `org/mödel:1 "x" 'or' 1=1 -- 模型`;
    expect((await at.post("create", form(id), owner)).status).toBe(200);
    expect((await find(id)).body.id).toBe(id);
    expect((await at.post("model/delete", { id }, owner)).body).toBe(true);
  });
});

describe("providers' models", () => {
  it("are edited by administrators alone", async () => {
    const edit = { id: "beta", name: "Beta for all", base_model_id: null, access_grants: [everybody] };
    expect((await at.post("create", edit, owner)).status).toBe(403);
    expect((await at.post("import", { models: [edit] }, owner)).status).toBe(403);
    // An id that no provider has yet would open the model on the day it comes.
    expect((await at.post("create", { ...edit, id: "future" }, owner)).status).toBe(403);
    expect(await at.listed(other)).not.toContain("beta");
    await at.post("create", form("mine"), owner);
    expect((await at.post("model/update", { id: "mine", base_model_id: null }, owner)).status).toBe(403);

    expect((await at.post("create", edit)).status).toBe(200);
    expect(await at.listed(other)).toContain("beta");
    expect((await at.get("base")).body.map(({ id }: { id: string }) => id)).toEqual([
      "alpha",
      "beta",
      "guide",
    ]);
    expect((await at.post("model/delete", { id: "beta" })).body).toBe(true);
    expect(await at.listed(other)).not.toContain("beta");
  });
});

it("every saved model goes when an administrator says so, and nobody else may", async () => {
  expect((await owner.call("DELETE /api/v1/models/delete/all")).status).toBe(403);
  expect((await admin.call("DELETE /api/v1/models/delete/all")).body).toBe(true);
  expect((await at.get("all")).body).toEqual([]);
  expect(await at.listed(other)).toEqual([]);
  const { rows } = await at.app.running.database.query(
    "select count(*)::int as n from access_grant where resource_type = 'model'",
  );
  expect((rows[0] as { n: number }).n).toBe(0);
});
