import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelCallEnded, type ModelCall } from "#kernel/completion/model-call.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { events } from "#kernel/services.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { body, json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { fromAssistant, fromUser, textPart } from "#test/support/wire-parts.ts";

let app: App;
let vendor: Upstream;
let prefixed: Upstream;
let proxy: Upstream;
let admin: TestUser;
const calls: ModelCall[] = [];

/** Remembers what model calls cost. */
const ledger = definePlugin({
  id: "ledger",
  title: "Ledger",
  uses: { events },
  setup({ use }) {
    use.events.on(modelCallEnded, (call) => void calls.push(call));
    return {};
  },
});

beforeAll(async () => {
  [vendor, prefixed, proxy] = await Promise.all([startUpstream(), startUpstream(), startUpstream()]);
  vendor.models = [
    { id: "claude-a", type: "model", display_name: "Claude A", created_at: "2026-01-01T00:00:00Z" },
  ];
  prefixed.models = ["claude-b"];
  proxy.models = ["any"];
  app = await startApp({
    plugins: [ledger],
    env: {
      // With and without the version: admins write both.
      OPENAI_API_BASE_URLS: [vendor.origin, prefixed.url, proxy.url].join(";"),
      OPENAI_API_KEYS: "vendor-key-1;vendor-key-2;proxy-key",
      OPENAI_API_CONFIGS: JSON.stringify({
        0: { provider: "anthropic" },
        1: { provider: "anthropic", prefix_id: "up" },
        2: { provider: "litellm" },
      }),
    },
  });
  admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
});

afterAll(async () => {
  await app.close();
  await Promise.all([vendor, prefixed, proxy].map((upstream) => upstream.close()));
});

/** Nothing that a program would write: every byte counts. */
const odd = (model: string, more = "") =>
  `{ "model":"${model}", "max_tokens" : 1e2,"messages":[ {"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"s\\u0041=="}]},\n` +
  `{"role":"user","content":[{"type":"text","text":"Łódź","cache_control":{"type":"ephemeral"}}, {"type":"hologram"}]}],"top_k":5${more} }`;

const event = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const reply = (model: string) =>
  event("message_start", {
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model,
      content: [],
      usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 },
    },
  }) +
  event("content_block_start", { index: 0, content_block: textPart("") }) +
  event("ping", {}) +
  event("content_block_delta", {
    index: 0,
    delta: { type: "text_delta", text: 'Grüße "model":"claude-b"' },
  }) +
  event("content_block_stop", { index: 0 }) +
  event("message_delta", {
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 5 },
  }) +
  event("message_stop", {});

const streams = (text: string) =>
  body(text, { headers: { "content-type": "text/event-stream", "request-id": "req_up" } });
const post = (text: string, headers: Record<string, string> = {}, path = "/api/v1/messages") =>
  admin.call(`POST ${path}`, text, headers);

describe("an upstream of the same format", () => {
  it("gets the request byte by byte, with its own key and the previews that the caller names", async () => {
    vendor.reply(
      "/v1/messages",
      json({ type: "message", model: "claude-a", content: [], usage: { input_tokens: 1, output_tokens: 2 } }),
    );
    const answer = await post(
      odd("claude-a"),
      { "anthropic-beta": "x-1,y-2", "anthropic-version": "2023-06-01" },
      "/api/message?beta=true&bypass_filter=true",
    );
    expect(answer.status).toBe(200);
    const sent = vendor.requests.at(-1);
    expect(sent?.bytes.toString()).toBe(odd("claude-a"));
    expect(sent?.path).toBe("/v1/messages?beta=true");
    expect(sent?.headers).toMatchObject({
      "x-api-key": "vendor-key-1",
      "anthropic-beta": "x-1,y-2",
      "anthropic-version": "2023-06-01",
    });
    expect(sent?.headers["authorization"]).toBeUndefined();
  });

  it("is told of the format's version when the caller names none", async () => {
    vendor.reply("/v1/messages", json({ type: "message" }));
    await post(odd("claude-a"));
    expect(vendor.requests.at(-1)?.headers["anthropic-version"]).toBe("2023-06-01");
  });

  it("streams its own bytes", async () => {
    vendor.reply("/v1/messages", streams(reply("claude-a")));
    const answer = await post(odd("claude-a", ',"stream":true'));
    expect(answer.text).toBe(reply("claude-a"));
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(answer.headers.get("request-id")).toBe("req_up");
    expect(calls.at(-1)).toMatchObject({
      wire: "messages",
      provider: "message",
      modelId: "claude-a",
      outcome: "completed",
      tokens: { input: 10, output: 5, cached: 3 },
    });
  });

  it("gets its own model id where a prefix stands before it, and answers under the public one", async () => {
    prefixed.reply("/v1/messages", streams(reply("claude-b")));
    const answer = await post(odd("up.claude-b", ',"stream":true'));
    expect(prefixed.requests.at(-1)?.bytes.toString()).toBe(odd("claude-b", ',"stream":true'));
    expect(answer.text).toBe(reply("claude-b").replace('"model":"claude-b"', '"model":"up.claude-b"'));
    expect(calls.at(-1)?.tokens).toMatchObject({ input: 10, output: 5 });

    prefixed.reply("/v1/messages", json({ type: "message", model: "claude-b", content: [] }));
    expect((await post(odd("up.claude-b"))).body).toEqual({
      type: "message",
      model: "up.claude-b",
      content: [],
    });
  });

  it("never sees a model that was not checked", async () => {
    vendor.reply("/v1/messages", json({ type: "message" }));
    await post(
      `{"model":"claude-secret","Model":"claude-secret","messages":[{"role":"user","content":"x"}],"model":"claude-a"}`,
    );
    expect(vendor.requests.at(-1)?.bytes.toString()).not.toContain("secret");
  });

  it("says itself what it refuses, with the headers that say when to come back", async () => {
    const refusal = {
      type: "error",
      error: { type: "rate_limit_error", message: "Slow down", details: { a: 1 } },
      request_id: "req_1",
    };
    vendor.reply(
      "/v1/messages",
      json(refusal, { status: 429, headers: { "retry-after": "3", "retry-after-ms": "2500" } }),
    );
    const answer = await post(odd("claude-a"));
    expect([answer.status, answer.body]).toEqual([429, refusal]);
    expect([answer.headers.get("retry-after"), answer.headers.get("retry-after-ms")]).toEqual(["3", "2500"]);
  });

  it("that breaks off leaves an error event behind what came", async () => {
    vendor.reply("/v1/messages", resetAfter(300, streams(reply("claude-a"))));
    const { text } = await post(odd("claude-a", ',"stream":true'));
    const came = reply("claude-a").slice(0, 300);
    const whole = came.slice(0, came.lastIndexOf("\n") + 1);
    expect(whole.length).toBeGreaterThan(100);
    expect(text.startsWith(`${whole}\nevent: ping\n`)).toBe(true);
    expect(text).toMatch(
      /\n\nevent: error\ndata: \{"type":"error","error":\{"type":"api_error",[^\n]*\}\}\n\n$/,
    );
  });

  it("counts tokens, of the prompt alone", async () => {
    vendor.reply("/v1/messages/count_tokens", json({ input_tokens: 12 }));
    const answer = await admin.call("POST /api/v1/messages/count_tokens", {
      model: "claude-a",
      max_tokens: 5,
      stream: false,
      system: "S",
      messages: [fromUser("Hi")],
    });
    expect([answer.status, answer.body]).toEqual([200, { input_tokens: 12 }]);
    expect(vendor.requests.at(-1)?.body).toEqual({
      model: "claude-a",
      system: "S",
      messages: [fromUser("Hi")],
    });
  });

  it("explains why it does not count", async () => {
    const refusal = { type: "error", error: { type: "invalid_request_error", message: "messages: odd" } };
    vendor.reply("/v1/messages/count_tokens", json(refusal, { status: 400 }));
    const answer = await post(odd("claude-a"), {}, "/api/message/count_tokens");
    expect([answer.status, answer.body]).toEqual([400, refusal]);
  });

  it("answers nobody whom the model is not for", async () => {
    const user = await app.user();
    const before = vendor.requests.length;
    const answer = await user.call("POST /api/message", odd("claude-a"));
    expect([answer.status, answer.body]).toEqual([
      404,
      { type: "error", error: { type: "not_found_error", message: "Model not found" } },
    ]);
    expect(vendor.requests.length).toBe(before);
  });

  it("gets the saved prompt of a model ahead of the caller's own", async () => {
    const record = {
      id: "pilot",
      base_model_id: "claude-a",
      name: "Pilot",
      meta: {},
      params: { system: "Hello {{USER_NAME}}" },
    };
    expect((await admin.call("POST /api/v1/models/create", record)).status).toBe(200);
    vendor.reply("/v1/messages", json({ type: "message", model: "claude-a" }));
    const answer = await admin.call("POST /api/message", {
      model: "pilot",
      max_tokens: 5,
      system: "Be brief",
      messages: [fromUser("Hi")],
    });
    expect(answer.body.model).toBe("pilot");
    expect(vendor.requests.at(-1)?.body).toMatchObject({
      model: "claude-a",
      system: [textPart("Hello admin"), textPart("Be brief")],
    });
    const before = vendor.requests.length;
    const odd = { model: "pilot", max_tokens: 5, system: 5, messages: [fromUser("Hi")] };
    expect(await admin.call("POST /api/message", odd)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("body.system") } },
    });
    expect(vendor.requests.length).toBe(before);
  });
});

describe("a proxy gateway", () => {
  it("gets the request as it is, with its key as a bearer token", async () => {
    proxy.reply("/v1/messages", streams(reply("any")));
    expect((await post(odd("any", ',"stream":true'))).text).toBe(reply("any"));
    const sent = proxy.requests.at(-1);
    expect([sent?.bytes.toString(), sent?.headers["authorization"]]).toEqual([
      odd("any", ',"stream":true'),
      "Bearer proxy-key",
    ]);
  });

  it("still gets common requests in the common format", async () => {
    proxy.reply("/v1/chat/completions", json({ choices: [{ index: 0, message: fromAssistant("Hi") }] }));
    const answer = await admin.call("POST /api/chat/completions", {
      model: "any",
      messages: [fromUser("Hi")],
    });
    expect(answer.body.choices[0].message.content).toBe("Hi");
  });
});
