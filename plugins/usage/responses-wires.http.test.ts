import { beforeEach, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { chat as chatOfRuntime } from "#test/support/runtime.ts";
import { setUp } from "#test/support/set-up.ts";
import { calls, respond, responsesUsage, said } from "#test/support/upstream-responses.ts";
import { embeddings, failure, json, sse, text } from "#test/support/upstream-scripts.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;
let member: TestUser;

setUp(async (keep) => {
  upstream = await keep(useUpstream());
  upstream.models = ["m"];
  upstream.always("/api/tags", json({ models: [{ name: "llama:latest", model: "llama:latest" }] }));
  upstream.always("/api/version", json({ version: "0.12.0" }));
  const open = { access: "everyone" };
  app = await keep(
    useApp({
      env: {
        OPENAI_API_BASE_URLS: [0, 1, 2, 3].map((n) => upstream.url + "/".repeat(n)).join(";"),
        OPENAI_API_CONFIGS: JSON.stringify({
          0: { ...open, api_type: "chat" },
          1: { ...open, api_type: "responses", prefix_id: "r" },
          2: { ...open, provider: "anthropic", prefix_id: "v" },
          3: { ...open, provider: "litellm", prefix_id: "l" },
        }),
        OLLAMA_BASE_URLS: upstream.origin,
        OLLAMA_API_CONFIGS: '{"0":{"access":"everyone"}}',
      },
    }),
  );
  admin = await app.admin();
});
beforeEach(async () => void (member = await app.user()));

const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 30 },
  completion_tokens_details: { reasoning_tokens: 8 },
};
/** What a call cost, and the sums of the one who asked. */
const all = {
  usage: { input_tokens: 100, output_tokens: 20 },
  sums: { cached_tokens: 30, reasoning_tokens: 8, total_tokens: 120 },
};
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 70, cache_read_input_tokens: 30, output_tokens: 20 },
};
const counted = { ...all, sums: { cached_tokens: 30, reasoning_tokens: 0, total_tokens: 120 } };
const chatted = sse(textChunks("Hi", { usage }));
const messages = [{ role: "user", content: "Hello" }];
const vendor = { max_tokens: 9, messages };
const input = { input: "Hello" };
const stream = { stream: true };

type Case = [
  path: string,
  model: string,
  body: object,
  asked: string,
  script: Script,
  row: { wire: string; usage?: object; sums?: object; tools?: object },
];
const chat = "/chat/completions";
const whole = text("Hi", { usage });
const clocks = { tools: [{ name: "clock", count: 1 }] };
const clock = sse(toolCallChunks([{ id: "a", name: "clock", arguments: "{}" }], { usage }));
const embedded = { input: "a" };
const llama = "llama:latest";

it.each<Case>([
  // A chat upstream.
  ["/compat/chat/completions", "m", { messages, ...stream }, chat, chatted, { wire: "chat", ...all }],
  ["/compat/chat/completions", "m", { messages }, chat, whole, { wire: "chat", ...all }],
  ["/compat/responses", "m", { ...input, ...stream }, chat, chatted, { wire: "chat", ...all }],
  ["/compat/responses", "m", input, chat, whole, { wire: "chat", ...all }],
  ["/runtime/v1/responses", "m", input, chat, whole, { wire: "chat", ...all }],
  ["/api/v1/messages", "m", { ...vendor, ...stream }, chat, chatted, { wire: "chat", ...all }],
  ["/compat/responses", "m", { ...input, ...stream }, chat, clock, { wire: "chat", ...all, ...clocks }],
  ["/compat/embeddings", "m", embedded, "/embeddings", embeddings(), { wire: "embeddings" }],
  ["/api/v1/embeddings", "m", embedded, "/embeddings", embeddings(), { wire: "embeddings" }],
  // An upstream of the Responses format.
  ...["/compat/chat/completions", "/api/chat/completions"].flatMap((path) =>
    [{}, stream].map((how): Case => {
      const script = respond([said("Hi"), calls("c", "clock", "{}")]);
      return [path, "r.m", { messages, ...how }, "/responses", script, { wire: "chat", ...all, ...clocks }];
    }),
  ),
  ...["/compat/responses", "/runtime/v1/responses"].flatMap((path) =>
    [{}, stream].map((how): Case => {
      const script = respond([said("word ".repeat(8000)), calls("c", "clock", "{}")]);
      return [
        path,
        "r.m",
        { ...input, ...how },
        "/responses",
        script,
        { wire: "responses", ...all, ...clocks },
      ];
    }),
  ),
  ...[{}, stream].map((how): Case => {
    const row = { wire: "chat", ...all };
    return ["/api/message", "r.m", { ...vendor, ...how }, "/responses", respond([said("Hi")]), row];
  }),
  // An upstream of the vendor's format, and a proxy that takes it.
  [
    "/compat/chat/completions",
    "v.m",
    { messages },
    "/v1/messages",
    json(message),
    { wire: "chat", ...counted },
  ],
  ["/api/chat/completions", "v.m", { messages }, "/v1/messages", json(message), { wire: "chat", ...counted }],
  ["/compat/responses", "v.m", input, "/v1/messages", json(message), { wire: "chat", ...counted }],
  ["/api/message", "l.m", vendor, "/v1/messages", json(message), { wire: "messages", ...counted }],
  // The local runtime.
  [
    "/runtime/v1/responses/0",
    llama,
    input,
    "/api/chat",
    chatOfRuntime("Hi"),
    { wire: "chat", usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  ["/runtime/v1/messages", llama, vendor, "/v1/messages", json(message), { wire: "messages", ...counted }],
  [
    "/runtime/v1/chat/completions/0",
    llama,
    { messages, ...stream },
    "/v1/chat/completions",
    chatted,
    { wire: "chat", ...all },
  ],
  [
    "/runtime/v1/completions",
    llama,
    { prompt: "Hello" },
    "/v1/completions",
    json({ choices: [{ text: "Hi" }], usage }),
    { wire: "generate", ...all },
  ],
  ["/runtime/v1/embeddings", llama, embedded, "/v1/embeddings", embeddings(), { wire: "embeddings" }],
])("counts what %s of %s costs once: %j", async (path, model, body, asked, script, row) => {
  upstream.reply(asked, script);
  const answer = await member.call(`POST ${path}`, { model, ...body });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  await expect.poll(async () => (await rows()).length).toBe(1);
  const { sums = {}, tools = [], ...facts } = row;
  expect(await rows()).toMatchObject([{ model_id: model, estimated: false, outcome: "completed", ...facts }]);
  const own = await member.call("GET /api/v1/users/usage");
  expect(own.body.totals).toMatchObject({ count: 1, ...sums });
  expect(own.body.top_tools).toEqual(tools);
});

const rows = async () =>
  (await admin.call(`GET /api/v1/analytics/messages?user_id=${member.id}`)).body as Record<string, unknown>[];

it.each([{}, stream])("estimates what an upstream of the Responses format does not tell: %j", async (how) => {
  for (const path of ["/compat/responses", "/api/chat/completions"]) {
    upstream.reply("/responses", respond([said("x".repeat(4000))], { usage: null }));
    const body = { model: "r.m", ...input, messages, ...how };
    expect((await member.call(`POST ${path}`, body)).status).toBe(200);
  }
  await expect.poll(async () => (await rows()).length).toBe(2);
  for (const row of await rows()) {
    expect(row).toMatchObject({ estimated: true, outcome: "completed" });
    expect((row["usage"] as { output_tokens: number }).output_tokens).toBeGreaterThan(900);
    expect((row["usage"] as { output_tokens: number }).output_tokens).toBeLessThan(1200);
  }
});

it("counts a response that failed as far as it came, and a refusal as nothing", async () => {
  upstream.reply("/responses", respond([said("Hi")], { status: "failed", usage: responsesUsage }));
  upstream.reply("/responses", failure(500, "Oh"));
  for (const _each of [1, 2]) {
    await member.call("POST /compat/responses", { model: "r.m", ...input, ...stream });
  }
  await expect.poll(async () => (await rows()).length).toBe(2);
  expect(await rows()).toMatchObject([
    { outcome: "failed", usage: { input_tokens: 0, output_tokens: 0 } },
    { outcome: "failed", usage: { input_tokens: 100, output_tokens: 20 } },
  ]);
});
