import { beforeEach, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { json, jsonLines, sse } from "#test/support/upstream-scripts.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;
let member: TestUser;

setUp(async (keep) => {
  upstream = await keep(useUpstream());
  upstream.models = ["claude"];
  upstream.always("/api/tags", json({ models: [{ name: "llama:latest", model: "llama:latest" }] }));
  upstream.always("/api/version", json({ version: "0.12.0" }));
  app = await keep(
    useApp({
      env: {
        OPENAI_API_BASE_URLS: upstream.origin,
        OPENAI_API_CONFIGS: '{"0":{"access":"everyone","provider":"anthropic","model_ids":["claude"]}}',
        OLLAMA_BASE_URLS: upstream.origin,
        OLLAMA_API_CONFIGS: '{"0":{"access":"everyone"}}',
      },
    }),
  );
  admin = await app.admin();
});
beforeEach(async () => void (member = await app.user()));

const lines = [
  { model: "llama:latest", message: { role: "assistant", content: "Hi" }, response: "Hi", done: false },
  {
    model: "llama:latest",
    message: { role: "assistant", content: "" },
    response: "",
    done: true,
    done_reason: "stop",
    prompt_eval_count: 10,
    eval_count: 5,
  },
];
const whole = { ...lines[0], ...lines[1] };
const common = {
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 5 },
};
const vendorEvents = [
  {
    type: "message_start",
    message: {
      ...message,
      content: [],
      stop_reason: null,
      usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 5 },
  },
  { type: "message_stop" },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

const messages = [{ role: "user", content: "Hello" }];
const stream = { stream: true };
const claude = { model: "claude", messages };
const vendor = { ...claude, max_tokens: 9 };
const vendorStream = sse(vendorEvents, { done: false });
const embedded = json({ embeddings: [[1]], prompt_eval_count: 10 });

it.each<[path: string, body: object, asked: string, script: Script, wire: string, output?: number]>([
  ["/runtime/api/generate", { prompt: "Hello" }, "/api/generate", jsonLines(lines), "generate"],
  ["/runtime/api/generate", { prompt: "Hello", stream: false }, "/api/generate", json(whole), "generate"],
  ["/runtime/api/chat", { messages }, "/api/chat", jsonLines(lines, { split: "bytes" }), "chat"],
  ["/runtime/v1/chat/completions", { messages }, "/v1/chat/completions", json(common), "chat"],
  ["/runtime/api/embed", { input: "a" }, "/api/embed", embedded, "embeddings", 0],
  ["/api/chat/completions", { messages, ...stream }, "/api/chat", jsonLines(lines), "chat"],
  ["/api/chat/completions", { messages }, "/api/chat", json(whole), "chat"],
  ["/runtime/v1/responses", { input: "Hello", ...stream }, "/api/chat", jsonLines(lines), "chat"],
  ["/api/embeddings", { input: "a" }, "/api/embed", embedded, "embeddings", 0],
  ["/api/message", vendor, "/v1/messages", json(message), "messages"],
  ["/api/message", { ...vendor, ...stream }, "/v1/messages", vendorStream, "messages"],
  ["/api/chat/completions", { ...claude, ...stream }, "/v1/messages", vendorStream, "chat"],
  ["/api/message", { max_tokens: 9, messages, ...stream }, "/api/chat", jsonLines(lines), "chat"],
])("counts what %s costs once: %j", async (path, body, asked, script, wire, output = 5) => {
  upstream.reply(asked, script);
  expect((await member.call(`POST ${path}`, { model: "llama:latest", ...body })).status).toBe(200);
  const rows = async () => (await admin.call(`GET /api/v1/analytics/messages?user_id=${member.id}`)).body;
  await expect.poll(async () => (await rows()).length).toBe(1);
  expect(await rows()).toMatchObject([
    { wire, usage: { input_tokens: 10, output_tokens: output }, estimated: false, outcome: "completed" },
  ]);
});
