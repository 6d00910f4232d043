import Anthropic, { APIError } from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { chunk, textChunks } from "#test/support/upstream-chunks.ts";
import {
  body,
  errorFrame,
  failure,
  json,
  jsonLines,
  rateLimited,
  sse,
} from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { completion } from "./answers.fixture.ts";
import { requestCases, streamCases } from "./cases.fixture.ts";
import { readEvents, streamed } from "./reader.fixture.ts";

let app: App;
let upstream: Upstream;
let vendor: Upstream;
let runtime: Upstream;
let admin: TestUser;
let sdk: Anthropic;

beforeAll(async () => {
  [upstream, vendor, runtime] = await Promise.all([startUpstream(), startUpstream(), startUpstream()]);
  upstream.models = ["alpha"];
  vendor.models = ["claude"];
  runtime.always("/api/tags", json({ models: [{ name: "llama", model: "llama" }] }));
  const configs = {
    1: { prefix_id: "k", passthrough_params: "top_k" },
    2: { prefix_id: "all", passthrough_params: "*" },
  };
  app = await startApp({
    env: {
      OPENAI_API_BASE_URLS: [upstream.url, `${upstream.url}/`, `${upstream.url}//`, vendor.origin].join(";"),
      OPENAI_API_CONFIGS: JSON.stringify({ ...configs, 3: { provider: "anthropic" } }),
      OLLAMA_BASE_URLS: runtime.origin,
      CUSTOM_API_KEY_HEADER: "X-House-Key",
    },
  });
  admin = await app.admin();
  sdk = new Anthropic({ baseURL: `${app.url}/api`, apiKey: admin.token, maxRetries: 0 });
  await admin.call("GET /api/models?refresh=true");
});
afterAll(async () => {
  await app.close();
  await Promise.all([upstream, vendor, runtime].map((each) => each.close()));
});

const messages = [{ role: "user" as const, content: "Hi" }];
const question = { model: "alpha", max_tokens: 9, messages };
const ask = (more: object = {}, token = admin.token) =>
  app.call("POST /api/message", { token, body: { ...question, ...more } });
const sent = () => upstream.requests.findLast(({ path }) => path.endsWith("/chat/completions"))?.body;

describe("requests", () => {
  it.each(requestCases)("%s", async (_id, more, expected) => {
    upstream.reply("/chat/completions", json(completion({ content: "Hi" })));
    expect((await ask(more)).status).toBe(200);
    expect(sent()).toEqual({ ...question, ...expected });
  });

  it("V39 for the local runtime", async () => {
    runtime.reply("/api/chat", jsonLines([{ message: { role: "assistant", content: "Hi" }, done: true }]));
    const answer = await ask({ model: "llama", stop_sequences: ["x"], temperature: 0.5, top_p: 0.9 });
    expect(answer.status).toBe(200);
    expect(runtime.requests.at(-1)?.body).toMatchObject({
      model: "llama",
      options: { num_predict: 9, stop: ["x"], temperature: 0.5, top_p: 0.9 },
    });
  });

  it.each([
    ["V51 with a list", "k.alpha", { top_k: 5 }],
    ["V51 with a star", "all.alpha", { top_k: 5, novelty: 1 }],
  ])("%s", async (_id, model, passed) => {
    upstream.reply("/chat/completions", json(completion({ content: "Hi" })));
    await ask({ model, top_k: 5, novelty: 1 });
    expect(sent()).toEqual({ ...question, ...passed });
  });

  it.each([
    ["V53 no messages", { messages: [] }, "messages"],
    ["V53 no content", { messages: [{ role: "user", content: [] }] }, "messages.0.content"],
    ["V53 no limit", { max_tokens: undefined }, "max_tokens"],
    ["V53 no model", { model: undefined }, "model"],
  ])("%s", async (_id, more, place) => {
    const { status, body: told } = await ask(more);
    expect([status, told]).toEqual([
      400,
      { type: "error", error: { type: "invalid_request_error", message: expect.stringContaining(place) } },
    ]);
  });

  it.each([
    ["V54 an unknown model", "none"],
    ["V54 a model that is not the caller's", "alpha"],
    ["V54 a model of the vendor's that is not the caller's", "claude"],
  ])("%s", async (_id, model) => {
    const { token } = await app.user();
    const { status, body: told } = await ask({ model }, token);
    expect([status, told]).toEqual([
      404,
      { type: "error", error: { type: "not_found_error", message: "Model not found" } },
    ]);
  });

  const ways: [id: string, headers: (key: string) => Record<string, string>, status: number][] = [
    ["V55 x-api-key", (key) => ({ "x-api-key": key }), 200],
    ["V55 Bearer", (key) => ({ authorization: `Bearer ${key}` }), 200],
    ["V55 both", (key) => ({ "x-api-key": key, authorization: `Bearer ${key}` }), 200],
    ["V55 the header of the house", (key) => ({ "x-house-key": key }), 200],
    ["V55 a bad key", () => ({ "x-api-key": "sk-wrong" }), 401],
    ["V55 nothing", () => ({}), 401],
  ];
  it.each(ways)("%s", async (_id, toHeaders, status) => {
    const made = await admin.call("POST /api/v1/auths/api_key");
    if (status === 200) {
      upstream.reply("/chat/completions", json(completion({ content: "Hi" })));
    }
    const answer = await app.call("POST /api/v1/messages", {
      body: question,
      headers: toHeaders(made.body.api_key),
    });
    expect([answer.status, answer.body.error?.type]).toEqual([
      status,
      status === 200 ? undefined : "authentication_error",
    ]);
  });

  it.each([
    [
      "V29 as it is",
      '{"model":"claude","max_tokens":9, "messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}]}',
    ],
    [
      "V56",
      '{ "model" : "claude","max_tokens":1e1,"stream":true,"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"s="}]},{"role":"user","content":"Hi"}]}',
    ],
  ])("%s", async (_id, text) => {
    const events = 'event: message_stop\ndata: {"type": "message_stop"}\n\n';
    vendor.reply("/v1/messages", body(events, { headers: { "content-type": "text/event-stream" } }));
    expect((await admin.call("POST /api/v1/messages", text, { "anthropic-beta": "x-1" })).text).toBe(events);
    expect(vendor.requests.at(-1)?.bytes.toString()).toBe(text);
    expect(vendor.requests.at(-1)?.headers["anthropic-beta"]).toBe("x-1");
  });
});

const calls = [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } }];
const used = { type: "tool_use", id: "a", name: "f", input: { x: 1 } };
const hi = { type: "text", text: "Hi" };
const thought = { type: "thinking", thinking: "Hm", signature: "" };
const plain = { type: "message", role: "assistant", model: "alpha", stop_sequence: null };
const wholes: [id: string, message: object, choice: object, expected: object][] = [
  [
    "V59",
    { content: "Hi" },
    {},
    { ...plain, content: [hi], stop_reason: "end_turn", usage: { input_tokens: 10, output_tokens: 5 } },
  ],
  [
    "V60 length",
    { content: "Hi" },
    { finish_reason: "length" },
    { content: [hi], stop_reason: "max_tokens" },
  ],
  [
    "V60 tool_calls",
    { content: null, tool_calls: calls },
    { finish_reason: "tool_calls" },
    { content: [used], stop_reason: "tool_use" },
  ],
  [
    "V61",
    { content: null, tool_calls: calls },
    { finish_reason: "stop" },
    { content: [used], stop_reason: "tool_use" },
  ],
  ["V64", { content: "Hi", tool_calls: calls }, { finish_reason: "tool_calls" }, { content: [hi, used] }],
  ["V66 reasoning_content", { content: "Hi", reasoning_content: "Hm" }, {}, { content: [thought, hi] }],
  ["V66 reasoning", { content: "Hi", reasoning: "Hm" }, {}, { content: [thought, hi] }],
];

test.each(wholes)("replies: %s", async (_id, message, choice, expected) => {
  upstream.reply("/chat/completions", json(completion(message, choice)));
  const answered = await sdk.messages.create(question);
  expect(answered).toMatchObject(expected);
  expect(answered.id).toMatch(/^msg_/);
});

test("replies: V69", async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 30 } };
  upstream.reply("/chat/completions", json({ ...completion({ content: "Hi" }), usage }));
  expect((await ask()).body.usage).toEqual({
    input_tokens: 70,
    output_tokens: 5,
    cache_read_input_tokens: 30,
  });
});

test.each([true, false])("replies: V75, streamed: %s", async (stream) => {
  upstream.reply("/chat/completions", rateLimited({ seconds: 3, message: "Slow down" }));
  const answer = await ask({ stream });
  expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("retry-after-ms")]).toEqual([
    429,
    "3",
    "3000",
  ]);
  expect(answer.body).toEqual({ type: "error", error: { type: "rate_limit_error", message: "Slow down" } });
});

describe("streams", () => {
  it.each(streamCases)("%s", async (_id, frames, expected) => {
    upstream.reply("/chat/completions", sse(frames));
    expect((await streamed(app, admin.token, question)).message).toMatchObject(expected);
    upstream.reply("/chat/completions", sse(frames, { split: "bytes" }));
    expect(await sdk.messages.stream(question).finalMessage()).toMatchObject(expected);
  });

  it("V79", async () => {
    upstream.reply("/chat/completions", sse(textChunks("Hi ".repeat(1000))));
    const answer = await admin.call(
      "POST /api/message",
      { ...question, stream: true },
      { "accept-encoding": "gzip, br, zstd" },
    );
    // The reader refuses frames without a name, and names that are not their event's type.
    expect(readEvents(answer.text).error).toBeUndefined();
    expect(answer.text).not.toContain("[DONE]");
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(answer.headers.get("content-encoding")).toBeNull();
  });

  const begun = chunk({ content: "Hel" });
  it.each([
    ["V97 an error frame", sse([begun, errorFrame("Out of memory")], { done: false }), /^Out of memory$/],
    ["V97 a reset", resetAfter(600, sse(textChunks("one two three four five six"))), /closed the connection/],
  ])("%s", async (_id, script, text) => {
    upstream.reply("/chat/completions", script);
    const { error } = await streamed(app, admin.token, question);
    expect(error).toEqual({
      type: "error",
      error: { type: "api_error", message: expect.stringMatching(text) },
    });
    upstream.reply("/chat/completions", script);
    await expect(sdk.messages.stream(question).finalMessage()).rejects.toBeInstanceOf(APIError);
  });

  it.each([
    ["V99 counted", json({ input_tokens: 42 }), 42],
    ["V99 not counted", failure(500, "Oops"), undefined],
  ])("%s", async (_id, script, expected) => {
    // Whether its upstream counts is remembered for each model.
    const model = expected === 42 ? "k.alpha" : "all.alpha";
    upstream.reply("/messages/count_tokens", script);
    upstream.reply("/chat/completions", sse(textChunks("Hi")));
    const { events, message } = await streamed(app, admin.token, { ...question, model });
    expect(events[0]?.["message"].usage.input_tokens).toBe(expected);
    expect(message.content).toEqual([{ type: "text", text: "Hi" }]);
  });
});

describe("counting", () => {
  const count = () => sdk.messages.countTokens({ model: "alpha", messages });

  it("V104", async () => {
    upstream.reply("/messages/count_tokens", json({ input_tokens: 8 }));
    expect(await count()).toEqual({ input_tokens: 8 });
  });

  it.each([
    ["V105 unknown", failure(404, "No such route")],
    ["V105 odd", json({ tokens: 8 })],
  ])("%s", async (_id, script) => {
    upstream.reply("/messages/count_tokens", script);
    await expect(count()).rejects.toMatchObject({ status: 502, type: "api_error" });
  });
});
