import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ModelProvider, ProviderModel } from "#kernel/completion/provider.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { everybody, type ModelsApp, reads, startModels } from "../models.fixture.ts";
import { modelAddons } from "../service.ts";

let at: ModelsApp;
let user: TestUser;

beforeAll(async () => {
  at = await startModels();
  user = await at.builder();
  for (const id of ["alpha", "beta"]) {
    await at.post("model/access/update", { id, access_grants: [everybody] });
  }
  at.upstream.always("/chat/completions", text("ok"));
});
afterAll(() => at.close());

const form = (id: string, more: object = {}) => ({ id, name: id, base_model_id: "alpha", ...more });
const item = async (id: string, by = user) =>
  (await at.get("/api/models", by)).body.data.find((model: { id: string }) => model.id === id);
const ask = (model: string, by = user) =>
  at.post("/api/chat/completions", { model, messages: [{ role: "user", content: "Hi" }] }, by);
const configure = (body: object) => at.post("/api/v1/configs/models", body);

describe("the item of a model", () => {
  it("says what it is over its base, with its controls, tags and chat variables", async () => {
    const control = { id: "c", label: "C", default: "a", options: [{ id: "a", label: "A" }] };
    const params = { system: "In {{chat.variables.tone | select:default=calm}}", model_controls: [control] };
    const meta = {
      tags: [{ name: "x" }, { name: "x" }],
      capabilities: ["usage"],
      hidden: true,
      profile_image_url: "/a.png",
    };
    const { body } = await at.post("create", form("full", { params, meta }), user);
    expect(await item("full")).toEqual({
      id: "full",
      name: "full",
      object: "model",
      created: body.created_at,
      owned_by: "openai",
      connection_type: "external",
      urlIdx: 0,
      openai: expect.objectContaining({ connection_type: "external" }),
      provider: "",
      preset: true,
      tags: [{ name: "x" }],
      actions: [],
      filters: [],
      info: {
        id: "full",
        name: "full",
        model: "full",
        base_model_id: "alpha",
        user_id: user.id,
        is_active: true,
        created_at: body.created_at,
        updated_at: body.updated_at,
        meta: {
          tags: meta.tags,
          capabilities: { usage: true },
          hidden: true,
          chat_variables_schema: { tone: { type: "select", default: "calm" } },
        },
        params: { model_controls: [control] },
      },
    });
  });

  it("has the instance's metadata where its own says nothing, capabilities key by key", async () => {
    await configure({
      DEFAULT_MODEL_METADATA: { capabilities: { vision: false, usage: true }, description: "All" },
    });
    await at.post("create", form("own", { meta: { capabilities: { vision: true, memory: false } } }), user);
    expect((await item("own")).info.meta).toMatchObject({
      description: "All",
      capabilities: { vision: true, usage: true, memory: false },
    });
    await configure({ DEFAULT_MODEL_METADATA: null });
    expect((await item("own")).info.meta.description).toBeUndefined();
  });
});

it("the order is the instance's, then by name", async () => {
  await configure({ MODEL_ORDER_LIST: ["own", "no such model", "beta"] });
  expect((await at.listed(user)).slice(0, 2)).toEqual(["own", "beta"]);
  await configure({ MODEL_ORDER_LIST: null });
  expect(await at.listed(user)).toEqual(["alpha", "beta", "full", "own"].toSorted());
});

it("DEFAULT_PINNED_MODELS are pinned once for whoever pinned none, and are their own from then on", async () => {
  const person = await at.app.user();
  const settings = "/api/v1/users/user/settings";
  const pinned = async () => (await at.get(settings, person)).body.ui.pinnedModels;
  expect(await pinned()).toBeUndefined();
  await configure({ DEFAULT_PINNED_MODELS: " alpha, beta ," });
  expect(await pinned()).toEqual(["alpha", "beta"]);
  await configure({ DEFAULT_PINNED_MODELS: "beta" });
  expect(await pinned()).toEqual(["alpha", "beta"]);
  await at.post(`${settings}/update`, { ui: { pinnedModels: [] } }, person);
  expect(await pinned()).toEqual([]);
  await configure({ DEFAULT_PINNED_MODELS: null });
});

describe("an arena", () => {
  const arena = (meta: object, more: object = {}) => ({
    ENABLE_EVALUATION_ARENA_MODELS: true,
    EVALUATION_ARENA_MODELS: [
      { id: "ring", name: "Ring", meta: { access_grants: [everybody], ...meta }, ...more },
    ],
  });
  const set = (body: object) => at.post("/api/v1/evaluations/config", body);
  /** The models that the upstream was asked for. */
  async function draw(times: number, by = user): Promise<string[]> {
    const before = at.upstream.requests.length;
    for (let n = 0; n < times; n++) {
      expect((await ask("ring", by)).status).toBe(200);
    }
    const asked = at.upstream.requests.slice(before).filter(({ method }) => method === "POST");
    return [...new Set(asked.map(({ body }) => String(body.model)))].toSorted();
  }
  beforeEach(() => set({ ENABLE_EVALUATION_ARENA_MODELS: null, EVALUATION_ARENA_MODELS: null }));

  it("answers with a member chosen by chance and names none", async () => {
    await set(arena({ model_ids: ["alpha", "beta"], description: "Fight" }));
    expect(await item("ring")).toMatchObject({
      owned_by: "arena",
      arena: true,
      name: "Ring",
      info: { meta: { description: "Fight" } },
    });
    expect(JSON.stringify(await item("ring"))).not.toMatch(/model_ids|access_grants/);
    expect(await draw(40)).toEqual(["alpha", "beta"]);
  });

  it("leaves out the models it names, and hidden ones, in the mode exclude", async () => {
    await set(arena({ model_ids: ["alpha", "own"], filter_mode: "exclude" }));
    expect(await draw(12)).toEqual(["beta"]);
  });

  it("opens no model, and is open to those it is for", async () => {
    const stranger = await at.app.user();
    await at.post("create", form("closed", { base_model_id: "beta" }));
    await set(arena({ model_ids: ["closed"] }));
    expect((await ask("ring", stranger)).status).toBe(404);
    expect(await at.listed(stranger)).not.toContain("ring");
    await set(arena({ model_ids: ["alpha"], access_grants: [reads(user)] }));
    expect([(await ask("ring", stranger)).status, (await ask("ring")).status]).toEqual([404, 200]);
    await set({ ENABLE_EVALUATION_ARENA_MODELS: false });
    expect((await ask("ring")).status).toBe(404);
    expect((await at.post("/api/v1/evaluations/config", {}, user)).status).toBe(403);
    expect((await set({ EVALUATION_ARENA_MODELS: [{ meta: { filter_mode: "x" } }] })).status).toBe(422);
  });
});

it("with BYPASS_MODEL_ACCESS_CONTROL everybody sees and uses all models, and changes none", async () => {
  const open = await startModels({ BYPASS_MODEL_ACCESS_CONTROL: "true" });
  try {
    const member = await open.app.user();
    await open.post("create", form("private"));
    open.upstream.always("/chat/completions", text("ok"));
    expect(await open.listed(member)).toEqual(["alpha", "beta", "private"]);
    const body = { model: "private", messages: [{ role: "user", content: "Hi" }] };
    expect((await open.post("/api/chat/completions", body, member)).status).toBe(200);
    expect((await open.get("model?id=private", member)).body.write_access).toBe(false);
    expect((await open.post("model/update", { id: "private", name: "x" }, member)).status).toBe(403);
  } finally {
    await open.close();
  }
});

describe("what other plugins add", () => {
  let app: App;
  let admin: TestUser;
  const unloaded: string[] = [];
  const offered: ProviderModel = {
    id: "twin",
    name: "Twin",
    ownedBy: "test",
    created: 0,
    connectionType: "local",
    access: "everyone",
    tags: [{ name: "local" }],
    item: {},
  };
  const provider = (id: string, name: string, unload?: ModelProvider["unload"]): ModelProvider => {
    const models = [{ ...offered, name }];
    return {
      id,
      models: async () => models,
      complete: () => Promise.reject(new Error(name)),
      ...(unload ? { unload } : {}),
    };
  };
  const plugin = definePlugin({
    id: "addons-test",
    title: "Addons",
    setup: () => ({
      providers: [
        provider("one", "First"),
        provider(
          "two",
          "Second",
          async ({ model, principal }) => void unloaded.push(`${model.id} ${principal.role}`),
        ),
      ],
      fills: [
        fill(modelAddons, {
          ready: async () => {},
          of: ({ id, meta }) => ({
            actions:
              id === "twin"
                ? [{ id: "a", name: "A", description: String(meta["description"]), icon: null }]
                : [],
            filters:
              id === "ring"
                ? [{ id: "f", name: "F", description: "", icon: null, has_user_valves: false }]
                : [],
          }),
        }),
      ],
    }),
  });
  beforeAll(async () => {
    app = await startApp({ plugins: [plugin], env: { DEFAULT_MODEL_METADATA: '{"description":"filled"}' } });
    admin = await app.admin();
  });
  afterAll(() => app.close());
  const call = (route: string, body?: unknown) => admin.call(route, body);

  it("stands in the list: actions, and of two models with one id the last", async () => {
    const { body } = await call("GET /api/models");
    const twins = body.data.filter(({ id }: { id: string }) => id === "twin");
    expect(twins).toMatchObject([
      {
        name: "Second",
        tags: [{ name: "local" }],
        actions: [{ id: "a", name: "A", description: "filled", icon: null }],
      },
    ]);
  });

  it("stands beside arena models too, which have the instance's metadata like all others", async () => {
    const arenas = [{ id: "ring", name: "Ring", meta: { model_ids: ["twin"] } }];
    await call("POST /api/v1/evaluations/config", { EVALUATION_ARENA_MODELS: arenas });
    const { body } = await call("GET /api/models");
    expect(body.data.find(({ id }: { id: string }) => id === "ring")).toMatchObject({
      filters: [{ id: "f" }],
      actions: [],
      info: { id: "ring", model: "ring", meta: { description: "filled" } },
    });
    await call("POST /api/v1/evaluations/config", { EVALUATION_ARENA_MODELS: null });
  });

  it("is unloaded where the provider can", async () => {
    expect((await call("POST /api/models/unload", { model: "twin" })).body).toEqual({ status: true });
    await call("POST /api/v1/models/create", { id: "over", name: "Over", base_model_id: "twin" });
    await call("POST /api/models/unload", { model: "over" });
    expect(unloaded).toEqual(["twin admin", "twin admin"]);
    expect((await call("POST /api/models/unload", { model: "guide" })).status).toBe(400);
    expect((await call("POST /api/models/unload", { model: "absent" })).status).toBe(404);
    const { token } = await app.user();
    expect((await app.call("POST /api/models/unload", { token, body: { model: "twin" } })).status).toBe(403);
  });
});
