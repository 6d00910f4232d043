import Anthropic, { type APIError, RateLimitError } from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { json, sse } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";

let app: App;
let upstream: Upstream;
let sdk: Anthropic;

setUp(async (keep) => {
  upstream = await keep(useUpstream());
  upstream.models = [
    { id: "claude-a", type: "model", display_name: "A", created_at: "2026-01-01T00:00:00Z" },
  ];
  app = await keep(
    useApp({
      env: {
        OPENAI_API_BASE_URLS: [upstream.origin, upstream.origin].join(";"),
        OPENAI_API_KEYS: "vendor-key;vendor-key",
        OPENAI_API_CONFIGS: JSON.stringify({
          0: { provider: "anthropic" },
          1: { provider: "anthropic", prefix_id: "up" },
        }),
      },
    }),
  );
  const admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
  sdk = new Anthropic({ baseURL: `${app.url}/api`, apiKey: admin.token, maxRetries: 0 });
});

const event = (type: string, data: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const block = (index: number, content_block: object, ...deltas: object[]) => [
  event("content_block_start", { index, content_block }),
  ...deltas.map((delta) => event("content_block_delta", { index, delta })),
  event("content_block_stop", { index }),
];
const content = [
  { type: "thinking", thinking: "Hmm", signature: "sig==" },
  { type: "text", text: "Grüße" },
  { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Łódź" } },
];
const head = { id: "msg_1", type: "message", role: "assistant", model: "claude-a" };
const frames = [
  event("message_start", {
    message: { ...head, content: [], usage: { input_tokens: 7, output_tokens: 1 } },
  }),
  event("ping"),
  ...block(
    0,
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking: "Hmm" },
    { type: "signature_delta", signature: "sig==" },
  ),
  ...block(1, { type: "text", text: "" }, { type: "text_delta", text: "Grüße" }),
  ...block(
    2,
    { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
    { type: "input_json_delta", partial_json: '{"city":"Łó' },
    { type: "input_json_delta", partial_json: 'dź"}' },
  ),
  event("message_delta", {
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { output_tokens: 5 },
  }),
  event("message_stop"),
];

const prompt: Anthropic.MessageCountTokensParams = {
  model: "",
  messages: [{ role: "user", content: "Hi" }],
};
const failed = (asked: PromiseLike<unknown>) =>
  Promise.resolve(asked).then(
    () => expect.unreachable("this was answered"),
    (error: unknown) => error as APIError,
  );

describe.each(["claude-a", "up.claude-a"])(
  "the vendor's client, with %s of its own format behind,",
  (model) => {
    const asked = { ...prompt, model, max_tokens: 100 };

    it("gets the upstream's answer as it is, under the public name", async () => {
      upstream.reply(
        "/v1/messages",
        json({ ...head, content, usage: { input_tokens: 7, output_tokens: 5 } }),
      );
      expect(await sdk.messages.create(asked)).toMatchObject({ ...head, model, content });
      expect(upstream.requests.at(-1)).toMatchObject({
        body: { ...asked, model: "claude-a" },
        headers: { "x-api-key": "vendor-key" },
      });
    });

    it.each([undefined, "bytes" as const])("streams it (split: %s)", async (split) => {
      upstream.reply("/v1/messages", sse(frames, { done: false, ...(split && { split }) }));
      expect(await sdk.messages.stream(asked).finalMessage()).toMatchObject({
        id: "msg_1",
        model,
        content,
        stop_reason: "tool_use",
        usage: { input_tokens: 7, output_tokens: 5 },
      });
    });

    it("counts tokens", async () => {
      upstream.reply("/v1/messages/count_tokens", json({ input_tokens: 12 }));
      expect(await sdk.messages.countTokens({ ...prompt, model })).toEqual({ input_tokens: 12 });
      expect(upstream.requests.at(-1)?.body).toEqual({ ...prompt, model: "claude-a" });
    });

    it("throws what the upstream refuses, with the headers that say when to come back", async () => {
      const refusal = { type: "error", error: { type: "rate_limit_error", message: "Slow down" } };
      const headers = { "retry-after": "3", "retry-after-ms": "3000" };
      for (const ask of [
        () => sdk.messages.create(asked),
        () => sdk.messages.stream(asked).finalMessage(),
        () => sdk.messages.countTokens({ ...prompt, model }),
      ]) {
        upstream.reply(() => true, json(refusal, { status: 429, headers }));
        const error = (await failed(ask())) as RateLimitError;
        expect(error).toBeInstanceOf(RateLimitError);
        expect([error.type, error.apiMessage]).toEqual(["rate_limit_error", "Slow down"]);
        expect([error.headers.get("retry-after"), error.headers.get("retry-after-ms")]).toEqual([
          "3",
          "3000",
        ]);
      }
    });

    it("throws an APIError wherever the upstream breaks off, in the middle of a line too", async () => {
      const length = Buffer.byteLength(frames.slice(0, -1).join(""));
      for (let cut = 10; cut < length; cut += 29) {
        upstream.reply("/v1/messages", resetAfter(cut, sse(frames, { done: false })));
        const error = await failed(sdk.messages.stream(asked).finalMessage());
        expect([cut, error.name, error.type]).toEqual([cut, "APIError", "api_error"]);
        expect(error.apiMessage).toContain("closed the connection");
      }
    });
  },
);
