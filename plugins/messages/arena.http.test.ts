import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { json, text } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";

let app: App;
let common: Upstream;
let vendor: Upstream;
let speaking: Upstream;
let admin: TestUser;

beforeAll(async () => {
  [common, vendor, speaking] = await Promise.all([useUpstream(), useUpstream(), useUpstream()]);
  common.models = ["plain"];
  vendor.models = ["claude"];
  speaking.models = ["rex"];
  common.always("/chat/completions", text("ok"));
  vendor.always("/v1/messages", json({ type: "message", model: "claude", content: [] }));
  speaking.always("/responses", json({ object: "response", model: "rex", output: [] }));
  app = await useApp({
    env: {
      OPENAI_API_BASE_URLS: [common.url, vendor.origin, speaking.url].join(";"),
      OPENAI_API_CONFIGS: JSON.stringify({ 1: { provider: "anthropic" }, 2: { api_type: "responses" } }),
      ENABLE_EVALUATION_ARENA_MODELS: "true",
      EVALUATION_ARENA_MODELS: JSON.stringify([
        { id: "messages", name: "Messages", meta: { model_ids: ["plain", "claude"] } },
        { id: "items", name: "Items", meta: { model_ids: ["plain", "rex"] } },
      ]),
    },
  });
  admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
});
afterAll(async () => {
  await app.close();
  await Promise.all([common, vendor, speaking].map((each) => each.close()));
});

// A translated request has lost the key that only its format knows.
const asked = [
  ["/api/message", "messages", () => vendor, { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }],
  ["/runtime/v1/responses", "items", () => speaking, { input: "Hi" }],
] as const;

it.each(asked)("%s draws a member of an arena once", async (path, model, toUpstream, question) => {
  const body = { model, ...question, truncation: "auto" };
  for (let turn = 0; turn < 40; turn++) {
    expect((await admin.call(`POST ${path}`, body)).status).toBe(200);
  }
  const sent = toUpstream().requests.flatMap(({ body: each }) => (each ? [each.truncation] : []));
  expect(new Set(sent)).toEqual(new Set(["auto"]));
});
