import { describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { closeAfter, html, resetAfter } from "#test/support/upstream-faults.ts";
import { body, json, sse } from "#test/support/upstream-scripts.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { fromUser, textPart, thinking, toolCall, toolUse } from "#test/support/wire-parts.ts";

let app: App;
let vendor: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  vendor = await keep(startUpstream());
  vendor.models = [
    {
      id: "claude-a",
      type: "model",
      display_name: "Claude A",
      created_at: "2026-01-02T00:00:00Z",
      max_tokens: 20_000,
    },
  ];
  app = await keep(
    startApp({
      env: {
        OPENAI_API_BASE_URLS: vendor.url,
        OPENAI_API_KEYS: "vendor-key",
        OPENAI_API_CONFIGS: JSON.stringify({ 0: { provider: "anthropic", prefix_id: "up" } }),
        AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: "2",
      },
    }),
  );
  admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
});

const event = (type: string, data: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const start = event("message_start", {
  message: {
    id: "msg_1",
    model: "claude-a",
    usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 },
  },
});
const open = (index: number, content_block: object) => event("content_block_start", { index, content_block });
const delta = (index: number, piece: object) => event("content_block_delta", { index, delta: piece });
const close = (index: number) => event("content_block_stop", { index });
const end = (stop_reason: string) =>
  event("message_delta", { delta: { stop_reason }, usage: { output_tokens: 5, input_tokens: null } }) +
  event("message_stop");
const text = (index: number, ...pieces: string[]) =>
  open(index, textPart("")) +
  pieces.map((piece) => delta(index, { type: "text_delta", text: piece })).join("") +
  close(index);

const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 3 },
  cache_read_input_tokens: 3,
};

async function stream(script: Script, more: object = {}) {
  vendor.reply("/v1/messages", script);
  const answer = await admin.call("POST /api/chat/completions", {
    model: "up.claude-a",
    messages: [fromUser("Hi")],
    stream: true,
    ...more,
  });
  const frames = answer.text.split("\n\n").filter((frame) => frame.startsWith("data: {"));
  // oxlint-disable-next-line typescript/no-explicit-any -- frames of every shape.
  const chunks: any[] = frames.map((frame) => JSON.parse(frame.slice(6)));
  const deltas = chunks.map(({ choices }) => choices?.[0]?.delta ?? {});
  return {
    answer,
    chunks,
    text: deltas.map(({ content }) => content ?? "").join(""),
    reasoning: deltas.map(({ reasoning_content: piece }) => piece ?? "").join(""),
    details: deltas.flatMap(({ reasoning_details: details }) => details ?? []),
    calls: deltas.flatMap(({ tool_calls: calls }) => calls ?? []),
    finish: chunks.map(({ choices }) => choices?.[0]?.finish_reason).find(Boolean),
    error: chunks.map(({ error }) => error).find(Boolean),
  };
}

const events = (all: string, options: { split?: "bytes" | "characters" } = {}) =>
  sse([all], { done: false, ...options });

it("lists the models with their names, and asks for them in the format's own way", async () => {
  const listed = (await admin.call("GET /api/models")).body.data;
  expect(listed.find(({ id }: { id: string }) => id === "up.claude-a")).toMatchObject({
    name: "Claude A",
    created: 1_767_312_000,
    owned_by: "openai",
    provider: "anthropic",
    urlIdx: 0,
  });
  const asked = vendor.requests.find(({ method }) => method === "GET");
  expect([asked?.path, asked?.headers["x-api-key"], asked?.headers["anthropic-version"]]).toEqual([
    "/v1/models?limit=1000",
    "vendor-key",
    "2023-06-01",
  ]);
  expect(asked?.headers["authorization"]).toBeUndefined();
});

it("is no model of routes that only the common format has", async () => {
  const answer = await admin.call("POST /compat/embeddings", { model: "up.claude-a", input: "Hi" });
  expect(answer.status).toBe(404);
});

it("sends a request of the vendor's format, with a limit that the model allows", async () => {
  await stream(events(start + text(0, "Hi") + end("end_turn")), { temperature: 0.5 });
  const sent = vendor.requests.at(-1);
  expect(sent?.body).toEqual({
    model: "claude-a",
    max_tokens: 20_000,
    messages: [fromUser([textPart("Hi")])],
    stream: true,
    temperature: 0.5,
  });
  expect(sent?.headers).toMatchObject({ "x-api-key": "vendor-key", "anthropic-version": "2023-06-01" });
});

describe("a stream", () => {
  const whole =
    start +
    open(0, thinking("")) +
    delta(0, { type: "thinking_delta", thinking: "Łet " }) +
    event("ping") +
    delta(0, { type: "thinking_delta", thinking: "me" }) +
    delta(0, { type: "signature_delta", signature: "sig" }) +
    close(0) +
    open(1, { type: "redacted_thinking", data: "secret" }) +
    close(1) +
    text(2, "Grü", "ße") +
    open(3, { type: "server_tool_use", id: "s", name: "x", input: {} }) +
    delta(3, { type: "input_json_delta", partial_json: "{}" }) +
    close(3) +
    open(4, toolUse("a", "f", {})) +
    delta(4, { type: "input_json_delta", partial_json: "" }) +
    delta(4, { type: "input_json_delta", partial_json: '{"x"' }) +
    delta(4, { type: "input_json_delta", partial_json: ":1}" }) +
    close(4) +
    open(5, toolUse("b", "g", {})) +
    close(5) +
    end("tool_use");

  it.each([undefined, "bytes", "characters"] as const)("becomes chunks, cut into %s", async (split) => {
    const read = await stream(events(whole, split ? { split } : {}));
    expect(read).toMatchObject({ text: "Grüße", reasoning: "Łet me", finish: "tool_calls" });
    expect(read.details).toEqual([
      { type: "reasoning.text", format: "anthropic-claude-v1", text: "Łet me", signature: "sig", index: 0 },
      { type: "reasoning.encrypted", format: "anthropic-claude-v1", data: "secret", index: 1 },
    ]);
    expect(read.calls).toEqual([
      { index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } },
      { index: 0, function: { arguments: '{"x"' } },
      { index: 0, function: { arguments: ":1}" } },
      { index: 1, id: "b", type: "function", function: { name: "g", arguments: "" } },
      { index: 1, function: { arguments: "{}" } },
    ]);
    expect(new Set(read.chunks.map(({ model }) => model))).toEqual(new Set(["up.claude-a"]));
    expect(read.answer.text.endsWith("data: [DONE]\n\n")).toBe(true);
    // Nobody asked for a chunk of usage: it comes with the last one.
    expect(read.chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }], usage });
  });

  it("ends with a chunk of usage for those who ask", async () => {
    const { chunks } = await stream(events(whole), { stream_options: { include_usage: true } });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
    expect(chunks.at(-2)?.usage).toBeUndefined();
  });

  it.each([
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content_filter"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
  ])("that ends with %s ends with %s", async (reason, finish) => {
    expect((await stream(events(start + text(0, "Hi") + end(reason)))).finish).toBe(finish);
  });

  it("survives blocks that are counted wrongly", async () => {
    const odd =
      start + open(3, textPart("A")) + delta(9, { type: "text_delta", text: "B" }) + end("end_turn");
    expect(await stream(events(odd))).toMatchObject({ text: "AB", finish: "stop", error: undefined });
  });
});

describe("an upstream that fails", () => {
  const begun = start + open(0, textPart("")) + delta(0, { type: "text_delta", text: "Hel" });
  const overloaded = event("error", { error: { type: "overloaded_error", message: "Overloaded" } });
  it.each<[string, Script, RegExp]>([
    ["says so midway", events(begun + overloaded), /^Overloaded$/],
    ["breaks off", events(begun), /before it was complete/],
    ["says nothing", events(""), /before it was complete/],
    ["is reset", resetAfter(begun.length + 20, events(begun + begun)), /closed|broke/],
    ["is closed", closeAfter(begun.length + 20, events(begun + begun)), /closed|broke/],
    ["sends no events", events("hello\n\n"), /before it was complete/],
  ])("and %s keeps what came and says why", async (name, script, message) => {
    const read = await stream(script);
    expect(read.error?.message).toMatch(message);
    expect(read.text).toBe(name.endsWith("nothing") || name.endsWith("events") ? "" : "Hel");
  });

  it.each<[number, Script]>([
    [502, html()],
    [502, body("{", { headers: { "content-type": "application/json" } })],
    [502, json({ ok: true })],
    [400, json({ type: "error", error: { type: "invalid_request_error", message: "No" } }, { status: 400 })],
    [
      529,
      json(
        { type: "error", error: { type: "overloaded_error", message: "Busy" } },
        { status: 529, headers: { "retry-after": "2" } },
      ),
    ],
  ])("is told with the status %i", async (status, script) => {
    vendor.reply("/v1/messages", script);
    const answer = await admin.call("POST /api/chat/completions", {
      model: "up.claude-a",
      messages: [fromUser("Hi")],
    });
    expect([answer.status, typeof answer.body.error.message]).toEqual([status, "string"]);
    expect(answer.headers.get("retry-after")).toBe(status === 529 ? "2" : null);
  });
});

describe("an answer comes as it was asked for", () => {
  const reply = {
    id: "msg_2",
    type: "message",
    model: "claude-a",
    content: [thinking("Hm", "sig"), textPart("Hi"), toolUse("a", "f", { x: 1 })],
    stop_reason: "tool_use",
    usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 5 },
  };

  it("whole", async () => {
    vendor.reply("/v1/messages", json(reply));
    const { body: completion } = await admin.call("POST /api/chat/completions", {
      model: "up.claude-a",
      messages: [fromUser("Hi")],
    });
    expect(completion).toMatchObject({
      object: "chat.completion",
      model: "up.claude-a",
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: "Hi",
            reasoning_content: "Hm",
            reasoning_details: [{ type: "reasoning.text", signature: "sig" }],
            tool_calls: [toolCall("a", "f", '{"x":1}')],
          },
        },
      ],
      usage,
    });
  });

  it("streamed, though the upstream answers whole", async () => {
    expect(await stream(json(reply))).toMatchObject({ text: "Hi", reasoning: "Hm", finish: "tool_calls" });
  });

  it("whole, though the upstream streams", async () => {
    vendor.reply("/v1/messages", events(start + text(0, "Hel", "lo") + end("end_turn")));
    const { body: completion } = await admin.call("POST /api/chat/completions", {
      model: "up.claude-a",
      messages: [fromUser("Hi")],
    });
    expect(completion).toMatchObject({
      choices: [{ message: { content: "Hello" }, finish_reason: "stop" }],
      usage,
    });
  });
});
