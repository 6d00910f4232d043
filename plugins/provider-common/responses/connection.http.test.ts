import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { json, rateLimited, sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { call, events, output, response } from "./responses.fixture.ts";

let upstream: Upstream;
let app: App;
let member: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    startAppWithUpstream({
      models: ["r"],
      connections: [
        { access: "everyone", api_type: "responses" },
        { access: "everyone", api_type: "responses", prefix_id: "p", extra_params: { service_tier: "flex" } },
      ],
    }),
  ));
  member = await app.user();
});

const sent = () => upstream.requests.findLast(({ method }) => method === "POST")!;
const expected = {
  finish_reason: "tool_calls",
  message: {
    content: "Grüße 世界",
    tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"x":1}' } }],
  },
};
const messages = [{ role: "user" as const, content: "Hi" }];

describe.each(["/api", "/compat"])("chat completions below %s", (base) => {
  const sdk = () => new OpenAI({ baseURL: app.url + base, apiKey: member.token, maxRetries: 0 });

  it.each([
    ["r", "bytes", true],
    ["p.r", "characters", true],
    ["r", undefined, false],
  ] as const)("stream what %s says, cut at %s, in pieces: %s", async (model, split, isPieced) => {
    upstream.reply("/responses", sse(events(isPieced), { split, done: false }));
    const stream = sdk().chat.completions.stream({ model, messages });
    const completion = await stream.finalChatCompletion();
    expect(completion).toMatchObject({ model, choices: [expected] });
    expect(sent().path).toMatch(/\/v1\/responses$/);
    expect(sent().body).toMatchObject({
      model: "r",
      stream: true,
      store: false,
      input: [{ type: "message", role: "user", content: "Hi" }],
    });
    expect(sent().body["service_tier"]).toBe(model === "r" ? undefined : "flex");
  });

  it.each(["r", "p.r"])("give what %s says as a whole", async (model) => {
    upstream.reply("/responses", json({ ...response, output: [...output, call] }));
    const completion = await sdk().chat.completions.create({ model, messages });
    expect(completion).toMatchObject({
      object: "chat.completion",
      model,
      choices: [{ ...expected, message: { ...expected.message, reasoning_content: "Hm" } }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
  });

  it.each<[string, Script, object]>([
    ["streamed although a whole was asked for", sse(events(true), { done: false }), {}],
    [
      "whole although a stream was asked for",
      json({ ...response, output: [...output, call] }),
      { stream: true },
    ],
  ])("put an answer right that came %s", async (_what, script, how) => {
    upstream.reply("/responses", script);
    const answer = await member.call(`POST ${base}/chat/completions`, { model: "r", messages, ...how });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("世界");
    expect(answer.headers.get("content-type")).toContain("stream" in how ? "event-stream" : "json");
  });

  it.each([
    ["incomplete", { reason: "max_output_tokens" }, "length"],
    ["incomplete", { reason: "content_filter" }, "content_filter"],
  ])("say why an answer is %s: %j", async (status, details, reason) => {
    const cut = { ...response, status, incomplete_details: details };
    upstream.reply(
      "/responses",
      sse(events(true, { type: "response.incomplete", response: cut }), { done: false }),
    );
    const streamed = await sdk().chat.completions.stream({ model: "r", messages }).finalChatCompletion();
    upstream.reply("/responses", json(cut));
    const whole = await sdk().chat.completions.create({ model: "r", messages });
    expect([streamed, whole].map(({ choices }) => choices[0]?.finish_reason)).toEqual([reason, reason]);
  });

  it.each<[string, Script]>([
    [
      "a failed response",
      sse(
        events(true, {
          type: "response.failed",
          response: { error: { code: "server_error", message: "Overheated" } },
        }),
        { done: false },
      ),
    ],
    [
      "an error event",
      sse(events(true, { type: "error", code: "server_error", message: "Overheated" }), { done: false }),
    ],
    ["a reset", resetAfter(1200, sse(events(true), { done: false }))],
    ["an end before the end", sse(events(true).slice(0, -1), { done: false })],
  ])("end with an error frame after %s", async (_what, script) => {
    upstream.reply("/responses", script);
    const answer = await member.call(`POST ${base}/chat/completions`, { model: "r", messages, stream: true });
    const frames = answer.text.trim().split("\n\n");
    expect(
      JSON.parse(frames.findLast((frame) => frame.startsWith("data: {"))!.slice(6)).error.message,
    ).toMatch(/Overheated|closed the connection|ended before it was complete/);
    expect(answer.text).not.toContain('"finish_reason":"');
  });

  it("pass refusals on", async () => {
    upstream.reply("/responses", rateLimited({ seconds: 4 }));
    const answer = await member.call(`POST ${base}/chat/completions`, { model: "r", messages });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "4"]);
    upstream.reply(
      "/responses",
      json({ ...response, status: "failed", error: { code: "rate_limit_exceeded", message: "Slow" } }),
    );
    const failed = await member.call(`POST ${base}/chat/completions`, { model: "r", messages });
    expect([failed.status, failed.body.error.message]).toEqual([429, "Slow"]);
  });
});

it("asks for everything that chat completions ask for", async () => {
  upstream.reply("/responses", json(response));
  const schema = { type: "object", properties: {} };
  await member.call("POST /api/chat/completions", {
    model: "r",
    messages: [
      { role: "system", content: "S" },
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
        ],
      },
      {
        role: "assistant",
        content: "b",
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "42" },
      { role: "user", content: "And?" },
    ],
    max_tokens: 9,
    temperature: 0.5,
    stop: "x",
    seed: 1,
    logit_bias: { 1: 2 },
    reasoning_effort: "low",
    response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true } },
    tools: [{ type: "function", function: { name: "f", parameters: schema } }],
    tool_choice: { type: "function", function: { name: "f" } },
    parallel_tool_calls: false,
  });
  expect(sent().body).toEqual({
    model: "r",
    store: false,
    instructions: "S",
    input: [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "a" },
          { type: "input_image", image_url: "data:image/png;base64,AA", detail: "auto" },
        ],
      },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "b", annotations: [] }] },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "42" },
      { type: "message", role: "user", content: "And?" },
    ],
    max_output_tokens: 9,
    temperature: 0.5,
    reasoning: { effort: "low" },
    text: { format: { type: "json_schema", name: "n", schema, strict: true } },
    tools: [{ type: "function", name: "f", parameters: schema, strict: false }],
    tool_choice: { type: "function", name: "f" },
    parallel_tool_calls: false,
  });
});

it.each(["/compat/responses", "/runtime/v1/responses"])(
  "sends the Responses format of %s on as it came",
  async (path) => {
    for (const model of ["r", "p.r"]) {
      upstream.reply("/responses", sse(events(true), { done: false, split: "bytes" }));
      const body = {
        model,
        input: "Hi",
        stream: true,
        include: ["reasoning.encrypted_content"],
        tools: [{ type: "web_search" }],
        previous_response_id: "resp_0",
      };
      const answer = await member.call(`POST ${path}`, body);
      const { previous_response_id: _forgotten, ...kept } = body;
      expect(sent().body).toEqual({ ...kept, model: "r" });
      const plain = events(true).join("");
      expect(answer.text).toBe(model === "r" ? plain : plain.replaceAll('"model":"r"', '"model":"p.r"'));
      const counted = async () =>
        (await member.call(`GET /api/v1/users/usage`)).body.top_models.find(
          ({ model_id: id }: { model_id: string }) => id === model,
        );
      await expect.poll(counted, { timeout: 5000 }).toMatchObject({ input_tokens: expect.any(Number) });
    }
  },
);

it("remembers earlier responses where it is told to", async () => {
  const other = await startApp({
    env: {
      ENABLE_RESPONSES_API_STATEFUL: "true",
      OPENAI_API_BASE_URLS: upstream.url,
      OPENAI_API_CONFIGS: '{"0":{"access":"everyone","api_type":"responses"}}',
    },
  });
  const admin = await other.admin();
  for (const path of ["/compat/responses", "/runtime/v1/responses"]) {
    upstream.reply("/responses", json(response));
    await admin.call(`POST ${path}`, { model: "r", input: "Hi", previous_response_id: "resp_0" });
    expect(sent().body["previous_response_id"]).toBe("resp_0");
  }
  await other.close();
});
