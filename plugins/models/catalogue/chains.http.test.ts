import { afterAll, beforeAll, expect, it } from "vitest";
import { addFunction } from "#plugins/functions/functions.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { type ModelsApp, startModels, upload } from "../models.fixture.ts";
import { png } from "../pictures/pictures.fixture.ts";

let at: ModelsApp;

beforeAll(async () => {
  at = await startModels({ DEFAULT_MODEL_METADATA: '{"tags":[null,"plain",{"name":"kept"},{"name":1}]}' });
});
afterAll(() => at.close());

const form = (id: string, more: object = {}) => ({ id, name: id, base_model_id: "alpha", ...more });

it("a record over another one runs through the filters of both", async () => {
  const marking = (mark: string) => `export function inlet(body) {
    return { ...body, messages: [...body.messages, { role: "user", content: "${mark}" }] }; }`;
  await addFunction(at.app, "a_below", marking("below"));
  await addFunction(at.app, "b_above", marking("above"));
  await at.post("create", form("below", { meta: { filterIds: ["a_below"] } }));
  await at.post("create", form("above", { base_model_id: "below", meta: { filterIds: ["b_above"] } }));
  await at.post("create", form("bare", { base_model_id: "below" }));
  for (const [model, marks] of [
    ["above", ["below", "above"]],
    ["bare", ["below"]],
  ] as const) {
    at.upstream.reply("/chat/completions", text("ok"));
    const seen = at.upstream.nextRequest(({ body }) => body?.messages !== undefined);
    const messages = [{ role: "user", content: "Hi" }];
    expect((await at.post("/api/chat/completions", { model, messages })).status).toBe(200);
    const sent = (await seen).body.messages.map(({ content }: { content: string }) => content);
    expect(sent).toEqual(["Hi", ...marks]);
  }
});

it("tags of the instance's defaults that are none trouble nobody, and are not taken", async () => {
  const { status, body } = await at.get("/api/models");
  expect([status, body.data[0].tags]).toEqual([200, [{ name: "kept" }]]);
  const refused = await at.post("/api/v1/configs/models", { DEFAULT_MODEL_METADATA: { tags: [null] } });
  expect(refused.status).toBe(422);
  const taken = await at.post("/api/v1/configs/models", {
    DEFAULT_MODEL_METADATA: { tags: ["new"], own: 1 },
  });
  expect(taken.body.DEFAULT_MODEL_METADATA).toEqual({ tags: [{ name: "new" }], own: 1 });
});

// Core API, chat completion rule 7: instance-wide parameters fill every request, so a wrong one would break them all.
it("default parameters of the wrong type are refused by name", async () => {
  const wrong = { temperature: "hot", stop: 5, seed: "7" };
  const refused = await at.post("/api/v1/configs/models", { DEFAULT_MODEL_PARAMS: wrong });
  expect(refused.status).toBe(422);
  expect(refused.body.detail.map(({ loc }: { loc: string[] }) => loc.at(-1))).toEqual([
    "temperature",
    "stop",
  ]);
  const kept = { seed: "7", own: "x" };
  const taken = await at.post("/api/v1/configs/models", { DEFAULT_MODEL_PARAMS: kept });
  expect(taken.body.DEFAULT_MODEL_PARAMS).toEqual({ seed: 7, own: "x" });
  await at.post("/api/v1/configs/models", { DEFAULT_MODEL_PARAMS: null });
});

it("a sync takes away the figure that its list does not have; an import keeps it", async () => {
  const avatar = { file_id: await upload(at, at.admin, png(4, 4)) };
  await at.post("create", form("figure", { meta: { voice_avatar: avatar } }));
  const saved = async () => (await at.get("model?id=figure")).body.meta.voice_avatar;
  expect(await saved()).toMatchObject(avatar);
  await at.post("import", { models: [form("figure", { meta: {} })] });
  expect(await saved()).toMatchObject(avatar);
  expect((await at.post("sync", { models: [form("figure", { meta: {} })] })).status).toBe(200);
  expect(await saved()).toBeUndefined();
});
