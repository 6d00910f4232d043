import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { defineFilter } from "#kernel/pipeline/filter.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { body, failure, json, rateLimited, sse } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { streamed } from "../reader.fixture.ts";

let app: App;
let upstream: Upstream;
let vendor: Upstream;
let admin: TestUser;

/** Masks a number in what people say, and refuses one word. */
const guards = definePlugin({
  id: "guards",
  title: "Guards",
  setup: () => ({
    filters: [
      defineFilter({
        id: "guards.mask",
        name: "Mask",
        priority: 0,
        inlet(request) {
          const text = JSON.stringify(request);
          if (text.includes("forbidden")) {
            throw new Error("Not here.");
          }
          return JSON.parse(text.replaceAll("555-1234", "[number]")) as CompletionRequest;
        },
      }),
    ],
  }),
});

beforeAll(async () => {
  [upstream, vendor] = await Promise.all([startUpstream(), startUpstream()]);
  upstream.models = Array.from({ length: 10 }, (_, at) => `m${at}`);
  vendor.models = ["claude"];
  app = await startApp({
    plugins: [guards],
    env: {
      OPENAI_API_BASE_URLS: [upstream.url, vendor.origin].join(";"),
      OPENAI_API_CONFIGS: JSON.stringify({ 1: { provider: "anthropic" } }),
      DEFAULT_MODEL_PARAMS: JSON.stringify({ system: "You help {{USER_NAME}}." }),
    },
  });
  admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
});
afterAll(async () => {
  await app.close();
  await Promise.all([upstream, vendor].map((each) => each.close()));
});

const prompt = { type: "text", text: "You help admin." };
const say = (content: string, more: object = {}) => ({
  model: "m0",
  max_tokens: 9,
  messages: [{ role: "user", content }],
  ...more,
});
const counts = (from: Upstream) => from.requests.filter(({ path }) => path.endsWith("/count_tokens"));
const count = (asked: object) => admin.call("POST /api/message/count_tokens", asked);

describe("what is counted", () => {
  const masked = {
    model: "m0",
    system: [prompt],
    messages: [{ role: "user", content: [{ type: "text", text: "Call [number]" }] }],
  };

  it("up front is what filters and the saved prompt made of the request", async () => {
    upstream.reply("/count_tokens", json({ input_tokens: 42 }));
    upstream.reply("/chat/completions", sse(textChunks("Hi")));
    await streamed(app, admin.token, say("Call 555-1234"));
    expect(counts(upstream).at(-1)?.body).toEqual(masked);
    expect(upstream.requests.some(({ bytes }) => bytes.includes("555-1234"))).toBe(false);
  });

  it("on request is the same", async () => {
    upstream.reply("/count_tokens", json({ input_tokens: 42 }));
    const { max_tokens: _limit, ...asked } = say("Call 555-1234");
    expect((await count(asked)).body).toEqual({ input_tokens: 42 });
    expect(counts(upstream).at(-1)?.body).toEqual(masked);
  });

  it("is nothing where a filter refuses the request", async () => {
    const before = upstream.requests.length;
    const streaming = say("forbidden", { stream: true });
    for (const answer of [await admin.call("POST /api/message", streaming), await count(streaming)]) {
      expect([answer.status, answer.body.error.message]).toEqual([400, "Not here."]);
    }
    expect(upstream.requests.length).toBe(before);
  });

  it("has the calls of tools and their results in it", async () => {
    upstream.reply("/count_tokens", json({ input_tokens: 42 }));
    const use = { type: "tool_use", id: "a", name: "f", input: { x: 1 } };
    const result = { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "1" }] };
    const tool = { name: "f", description: "d", input_schema: { type: "object" } };
    const turns = [
      { role: "assistant", content: [use] },
      { role: "user", content: [result] },
    ];
    await count({ model: "m0", messages: turns, tools: [tool] });
    expect(counts(upstream).at(-1)?.body).toMatchObject({ messages: turns, tools: [tool] });
  });

  it("has the saved prompt in it where requests go on as they are", async () => {
    vendor.reply("/count_tokens", json({ input_tokens: 12 }));
    expect((await count(say("Hi", { model: "claude", system: "Be brief." }))).body).toEqual({
      input_tokens: 12,
    });
    expect(counts(vendor).at(-1)?.body.system).toEqual([prompt, { type: "text", text: "Be brief." }]);
  });
});

describe("up front an upstream that", () => {
  const streamAll = async (model: string, scripts: readonly Script[]) => {
    const before = counts(upstream).length;
    for (const script of scripts) {
      upstream.reply(
        ({ path, body: sent }) => path.endsWith("/count_tokens") && sent.model === model,
        script,
      );
      upstream.reply("/chat/completions", sse(textChunks("Hi")));
      await streamed(app, admin.token, say("Hi", { model }));
    }
    return counts(upstream).length - before;
  };

  it.each<[string, string, Script]>([
    ["m1", "refuses one request", failure(400, "Too long")],
    ["m2", "has too many of them", rateLimited({ seconds: 3 })],
    ["m3", "is broken for a moment", failure(503, "Busy")],
  ])("(%s) %s is asked again", async (model, _what, script) => {
    expect(await streamAll(model, Array(5).fill(script))).toBe(5);
  });

  it.each<[string, string, Script]>([
    ["m4", "does not know the address", failure(404, "No such route")],
    ["m5", "does not know the method", failure(405, "No")],
    ["m6", "says that it cannot", failure(501, "No")],
    ["m7", "answers something else", body("12")],
  ])("(%s) %s three times in a row is left alone", async (model, _what, script) => {
    expect(await streamAll(model, Array(5).fill(script))).toBe(3);
  });

  it("(m8) fails now and then is asked every time", async () => {
    const counted = json({ input_tokens: 42 });
    const failed = failure(404, "No such route");
    expect(await streamAll("m8", [failed, failed, counted, failed, failed, counted])).toBe(6);
  });
});
