import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { body, json, text } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";

let app: App;
let common: Upstream;
let speaking: Upstream;
let vendor: Upstream;
let runtime: Upstream;
let admin: TestUser;

const controls = [
  {
    id: "tone",
    label: "Tone",
    default: "plain",
    options: [
      { id: "plain", label: "Plain", params: { temperature: 0.1 }, system: "Be plain, {{USER_NAME}}." },
      { id: "warm", label: "Warm", params: { temperature: 0.9 } },
    ],
  },
];

beforeAll(async () => {
  [common, speaking, vendor, runtime] = await Promise.all([
    useUpstream(),
    useUpstream(),
    useUpstream(),
    useUpstream(),
  ]);
  common.models = ["ada"];
  speaking.models = ["rex"];
  vendor.models = ["claude"];
  common.always("/chat/completions", text("ok"));
  speaking.always("/responses", json({ object: "response", model: "rex", output: [] }));
  vendor.always("/v1/messages", json({ type: "message", model: "claude", content: [] }));
  runtime.always("/api/tags", json({ models: [{ name: "llama", model: "llama" }] }));
  runtime.always("/api/chat", body('{"message":{"role":"assistant","content":"ok"},"done":true}'));
  runtime.always("/v1/messages", json({ type: "message", model: "llama", content: [] }));
  app = await useApp({
    env: {
      OPENAI_API_BASE_URLS: [common.url, speaking.url, vendor.origin].join(";"),
      OPENAI_API_CONFIGS: JSON.stringify({ 1: { api_type: "responses" }, 2: { provider: "anthropic" } }),
      OLLAMA_BASE_URLS: runtime.origin,
      DEFAULT_MODEL_PARAMS: JSON.stringify({ system: "You are Ada.", model_controls: controls }),
    },
  });
  admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
});

afterAll(async () => {
  await app.close();
  await Promise.all([common, speaking, vendor, runtime].map((each) => each.close()));
});

const prompt = "You are Ada.\n\nBe plain, admin.";
const first = { role: "system", content: prompt };
const blocks = [{ type: "text", text: prompt }];

it.each<[string, string, () => Upstream, object]>([
  ["/compat/chat/completions", "ada", () => common, { temperature: 0.1, messages: [first, {}] }],
  ["/compat/responses", "ada", () => common, { temperature: 0.1, messages: [first, {}] }],
  ["/compat/responses", "rex", () => speaking, { instructions: prompt }],
  ["/runtime/v1/responses", "rex", () => speaking, { instructions: prompt }],
  ["/api/message", "ada", () => common, { temperature: 0.1, messages: [first, {}] }],
  ["/api/message", "claude", () => vendor, { system: blocks }],
  ["/runtime/api/chat", "llama", () => runtime, { options: { temperature: 0.1 }, messages: [first, {}] }],
  ["/runtime/v1/messages", "llama", () => runtime, { system: blocks }],
])("default options of a model's controls apply on %s to %s", async (path, model, toUpstream, expected) => {
  const question = { messages: [{ role: "user", content: "Hi" }], input: "Hi" };
  const answer = await admin.call(`POST ${path}`, { model, max_tokens: 9, stream: false, ...question });
  expect([answer.status, toUpstream().requests.at(-1)?.body]).toMatchObject([200, expected]);
});
