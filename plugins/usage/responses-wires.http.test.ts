import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { chat } from "#test/support/runtime.ts";
import { calls, respond, responsesUsage, said } from "#test/support/upstream-responses.ts";
import { embeddings, failure, json, sse, text } from "#test/support/upstream-scripts.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;
let member: TestUser;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = ["m"];
  upstream.always("/api/tags", json({ models: [{ name: "llama:latest", model: "llama:latest" }] }));
  upstream.always("/api/version", json({ version: "0.12.0" }));
  const open = { access: "everyone" };
  app = await startApp({
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
  });
  admin = await app.admin();
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});
beforeEach(async () => void (member = await app.user()));

const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 30 },
  completion_tokens_details: { reasoning_tokens: 8 },
};
const clocks = { tools: [{ name: "clock", count: 1 }] };
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
const long = "word ".repeat(8000);
const messages = [{ role: "user", content: "Hello" }];
const vendor = { max_tokens: 9, messages };
const input = { input: "Hello" };
const stream = { stream: true };

interface Case {
  readonly model?: string;
  readonly path: string;
  readonly body: object;
  readonly asked: string;
  readonly script: Script;
  readonly row: {
    readonly wire: string;
    readonly usage?: object;
    readonly sums?: object;
    readonly tools?: object;
  };
}

it.each<Case>([
  // A chat upstream.
  {
    path: "/compat/chat/completions",
    body: { messages, ...stream },
    asked: "/chat/completions",
    script: chatted,
    row: { wire: "chat", ...all },
  },
  {
    path: "/compat/chat/completions",
    body: { messages },
    asked: "/chat/completions",
    script: text("Hi", { usage }),
    row: { wire: "chat", ...all },
  },
  {
    path: "/compat/responses",
    body: { ...input, ...stream },
    asked: "/chat/completions",
    script: chatted,
    row: { wire: "chat", ...all },
  },
  {
    path: "/compat/responses",
    body: input,
    asked: "/chat/completions",
    script: text("Hi", { usage }),
    row: { wire: "chat", ...all },
  },
  {
    path: "/runtime/v1/responses",
    body: input,
    asked: "/chat/completions",
    script: text("Hi", { usage }),
    row: { wire: "chat", ...all },
  },
  {
    path: "/api/v1/messages",
    body: { ...vendor, ...stream },
    asked: "/chat/completions",
    script: chatted,
    row: { wire: "chat", ...all },
  },
  {
    path: "/compat/responses",
    body: { ...input, ...stream },
    asked: "/chat/completions",
    script: sse(toolCallChunks([{ id: "a", name: "clock", arguments: "{}" }], { usage })),
    row: { wire: "chat", ...all, ...clocks },
  },
  {
    path: "/compat/embeddings",
    body: { input: "a" },
    asked: "/embeddings",
    script: embeddings(),
    row: { wire: "embeddings" },
  },
  {
    path: "/api/v1/embeddings",
    body: { input: "a" },
    asked: "/embeddings",
    script: embeddings(),
    row: { wire: "embeddings" },
  },
  // An upstream of the Responses format.
  ...["/compat/chat/completions", "/api/chat/completions"].flatMap((path) =>
    [{}, stream].map((how) => ({
      model: "r.m",
      path,
      body: { messages, ...how },
      asked: "/responses",
      script: respond([said("Hi"), calls("c", "clock", "{}")]),
      row: { wire: "chat", ...all, ...clocks },
    })),
  ),
  ...["/compat/responses", "/runtime/v1/responses"].flatMap((path) =>
    [{}, stream].map((how) => ({
      model: "r.m",
      path,
      body: { ...input, ...how },
      asked: "/responses",
      script: respond([said(long), calls("c", "clock", "{}")]),
      row: { wire: "responses", ...all, ...clocks },
    })),
  ),
  ...[{}, stream].map((how) => ({
    model: "r.m",
    path: "/api/message",
    body: { ...vendor, ...how },
    asked: "/responses",
    script: respond([said("Hi")]),
    row: { wire: "chat", ...all },
  })),
  // An upstream of the vendor's format, and a proxy that takes it.
  ...["/compat/chat/completions", "/api/chat/completions"].map((path) => ({
    model: "v.m",
    path,
    body: { messages },
    asked: "/v1/messages",
    script: json(message),
    row: { wire: "chat", ...counted },
  })),
  {
    model: "v.m",
    path: "/compat/responses",
    body: input,
    asked: "/v1/messages",
    script: json(message),
    row: { wire: "chat", ...counted },
  },
  {
    model: "l.m",
    path: "/api/message",
    body: vendor,
    asked: "/v1/messages",
    script: json(message),
    row: { wire: "messages", ...counted },
  },
  // The local runtime.
  {
    model: "llama:latest",
    path: "/runtime/v1/responses/0",
    body: input,
    asked: "/api/chat",
    script: chat("Hi"),
    row: { wire: "chat", usage: { input_tokens: 10, output_tokens: 5 } },
  },
  {
    model: "llama:latest",
    path: "/runtime/v1/messages",
    body: vendor,
    asked: "/v1/messages",
    script: json(message),
    row: { wire: "messages", ...counted },
  },
  {
    model: "llama:latest",
    path: "/runtime/v1/chat/completions/0",
    body: { messages, ...stream },
    asked: "/v1/chat/completions",
    script: chatted,
    row: { wire: "chat", ...all },
  },
  {
    model: "llama:latest",
    path: "/runtime/v1/completions",
    body: { prompt: "Hello" },
    asked: "/v1/completions",
    script: json({ choices: [{ text: "Hi" }], usage }),
    row: { wire: "generate", ...all },
  },
  {
    model: "llama:latest",
    path: "/runtime/v1/embeddings",
    body: { input: "a" },
    asked: "/v1/embeddings",
    script: embeddings(),
    row: { wire: "embeddings" },
  },
])("counts what $path of $model costs once", async ({ model = "m", path, body, asked, script, row }) => {
  upstream.reply(asked, script);
  const answer = await app.call(`POST ${path}`, { token: member.token, body: { model, ...body } });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  await expect.poll(async () => (await rows()).length, { timeout: 5000 }).toBe(1);
  const { sums = {}, tools = [], ...facts } = row;
  expect(await rows()).toMatchObject([{ model_id: model, estimated: false, outcome: "completed", ...facts }]);
  const own = await app.call("GET /api/v1/users/usage", { token: member.token });
  expect(own.body.totals).toMatchObject({ count: 1, ...sums });
  expect(own.body.top_tools).toEqual(tools);
});

const rows = async () =>
  (await app.call(`GET /api/v1/analytics/messages?user_id=${member.id}`, { token: admin.token }))
    .body as Record<string, unknown>[];

it.each([{}, stream])("estimates what an upstream of the Responses format does not tell: %j", async (how) => {
  for (const path of ["/compat/responses", "/api/chat/completions"]) {
    upstream.reply("/responses", respond([said("x".repeat(4000))], { usage: null }));
    const body = { model: "r.m", ...input, messages, ...how };
    expect((await app.call(`POST ${path}`, { token: member.token, body })).status).toBe(200);
  }
  await expect.poll(async () => (await rows()).length, { timeout: 5000 }).toBe(2);
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
    await app.call("POST /compat/responses", {
      token: member.token,
      body: { model: "r.m", ...input, ...stream },
    });
  }
  await expect.poll(async () => (await rows()).length, { timeout: 5000 }).toBe(2);
  expect(await rows()).toMatchObject([
    { outcome: "failed", usage: { input_tokens: 0, output_tokens: 0 } },
    { outcome: "failed", usage: { input_tokens: 100, output_tokens: 20 } },
  ]);
});
