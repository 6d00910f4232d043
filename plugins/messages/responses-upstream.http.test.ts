import Anthropic, { APIError, RateLimitError } from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { calls, respond, said, thought } from "#test/support/upstream-responses.ts";
import { rateLimited } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { fromAssistant, fromUser, textPart, thinking, toolUse } from "#test/support/wire-parts.ts";
import { streamed } from "./reader.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;
let member: TestUser;

setUp(async (keep) => {
  const config = { access: "everyone", api_type: "responses" };
  ({ app, upstream } = await keep(
    useAppWithUpstream({ models: ["r", "gpt-5-mini"], connections: [config, { ...config, prefix_id: "p" }] }),
  ));
  admin = await app.admin();
  member = await app.user();
});

type Params = Anthropic.MessageCreateParamsNonStreaming;
const question: Params = { model: "r", max_tokens: 100, messages: [fromUser("Hi")] };
const sdk = () => new Anthropic({ baseURL: `${app.url}/api`, apiKey: member.token, maxRetries: 0 });
const sent = () => upstream.requests.findLast(({ path }) => path.endsWith("/responses"))!.body;

const weather = calls("call_1", "weather", '{"city":"Łódź"}');
const clock = calls("call_2", "clock", "{}");

/** Answers of an upstream of the Responses format with their blocks and stop reason. */
const answers: Record<string, [script: Parameters<typeof respond>, content: object[], stop: string]> = {
  "a text": [[[said("Grüße 世界")]], [textPart("Grüße 世界")], "end_turn"],
  "a thought ahead of a text": [
    [[thought("Let me see"), said("42")]],
    [thinking("Let me see"), textPart("42")],
    "end_turn",
  ],
  "a sealed thought without a summary": [[[thought("", "sealed"), said("42")]], [textPart("42")], "end_turn"],
  "two calls behind a text": [
    [[said("Let me look."), weather, clock]],
    [
      textPart("Let me look."),
      toolUse("call_1", "weather", { city: "Łódź" }),
      toolUse("call_2", "clock", {}),
    ],
    "tool_use",
  ],
  "a text that was cut": [
    [[said("Hel")], { status: "incomplete", more: { incomplete_details: { reason: "max_output_tokens" } } }],
    [textPart("Hel")],
    "max_tokens",
  ],
  "a text that a policy stopped": [
    [[said("Hel")], { status: "incomplete", more: { incomplete_details: { reason: "content_filter" } } }],
    [textPart("Hel")],
    "refusal",
  ],
  "a refusal": [
    [[{ ...said(""), content: [{ type: "refusal", refusal: "I will not" }] }]],
    [textPart("I will not")],
    "refusal",
  ],
  nothing: [[[]], [], "end_turn"],
};

const usage = { input_tokens: 70, cache_read_input_tokens: 30, output_tokens: 20 };

describe.each(Object.entries(answers))("%s", (_name, [[output, options], content, stop]) => {
  it.each(["r", "p.r"])("is the whole message of %s", async (model) => {
    upstream.reply("/responses", respond(output, options));
    const message = await sdk().messages.create({ ...question, model });
    expect(message).toMatchObject({ type: "message", role: "assistant", model, stop_reason: stop, usage });
    expect(message.content).toEqual(content);
  });

  it.each([undefined, "bytes", "characters"] as const)("is streamed, cut at %s", async (split) => {
    upstream.reply("/responses", respond(output, { ...options, ...(split && { split }) }));
    const { message } = await streamed(app, member.token, question);
    expect(message).toMatchObject({ model: "r", stop_reason: stop, usage });
    expect(message.content).toEqual(content);
    upstream.reply("/responses", respond(output, { ...options, ...(split && { split }) }));
    expect((await sdk().messages.stream(question).finalMessage()).content).toEqual(content);
  });
});

it("asks for everything that the request says", async () => {
  upstream.reply("/responses", respond([said("Hi")]));
  const schema = { type: "object", properties: {} };
  const body = {
    ...question,
    max_tokens: 5000,
    system: "S",
    messages: [
      fromUser([
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        {
          type: "document",
          title: "a.pdf",
          source: { type: "base64", media_type: "application/pdf", data: "BBBB" },
        },
        textPart("What is this?"),
      ]),
      fromAssistant([thinking("Hm"), textPart("Let me look."), toolUse("c1", "f", { x: 1 })]),
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "c1",
            content: [
              textPart("42"),
              { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
            ],
          },
        ],
      },
    ],
    tools: [{ name: "f", description: "d", input_schema: schema }],
    tool_choice: { type: "any", disable_parallel_tool_use: true },
    temperature: 0.5,
    stop_sequences: ["x"],
    thinking: { type: "enabled", budget_tokens: 4096 },
  };
  expect((await member.call("POST /api/message", body)).status).toBe(200);
  expect(sent()).toEqual({
    model: "r",
    store: false,
    instructions: "S",
    input: [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
          { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,BBBB" },
          { type: "input_text", text: "What is this?" },
        ],
      },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Let me look.", annotations: [] }],
      },
      { type: "function_call", call_id: "c1", name: "f", arguments: '{"x":1}' },
      { type: "function_call_output", call_id: "c1", output: "42" },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_image", image_url: "https://example.com/a.png", detail: "auto" }],
      },
    ],
    max_output_tokens: 5000,
    temperature: 0.5,
    reasoning: { effort: "medium" },
    tools: [{ type: "function", name: "f", description: "d", parameters: schema, strict: false }],
    tool_choice: "required",
    parallel_tool_calls: false,
  });
});

it("goes through a loop of a tool with the vendor's client", async () => {
  upstream.reply("/responses", respond([thought("I need a tool"), weather], { split: "bytes" }));
  const tools: Params["tools"] = [{ name: "weather", input_schema: { type: "object" } }];
  const first = await sdk()
    .messages.stream({ ...question, tools })
    .finalMessage();
  const use = first.content.find((block) => block.type === "tool_use");
  upstream.reply("/responses", respond([said("Sunny.")]));
  const second = sdk().messages.stream({
    ...question,
    tools,
    messages: [
      ...question.messages,
      fromAssistant(first.content),
      fromUser([{ type: "tool_result", tool_use_id: use?.id ?? "", content: "21 °C" }]),
    ],
  });
  expect(await second.finalText()).toBe("Sunny.");
  expect(sent().input.slice(1)).toEqual([
    { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Łódź"}' },
    { type: "function_call_output", call_id: "call_1", output: "21 °C" },
  ]);
});

it.each([
  ["r", undefined],
  ["gpt-5-mini", ["reasoning.encrypted_content"]],
])("asks %s to seal its thoughts: %j", async (model, include) => {
  upstream.reply("/responses", respond([said("Hi")]));
  await sdk().messages.create({ ...question, model });
  expect(sent()["include"]).toEqual(include);
});

describe("an upstream that fails", () => {
  const failed = (asked: PromiseLike<unknown>) =>
    Promise.resolve(asked).then(
      () => expect.unreachable("this was answered"),
      (error: unknown) => error as APIError,
    );
  const error = { error: { code: "server_error", message: "Overheated" } };

  it.each([
    ["says so at its end", () => respond([said("Hello")], { status: "failed", more: error }), /Overheated/],
    ["stops before its end", () => respond([said("Hello")], { isCut: true }), /before it was complete/],
    ["is reset", () => resetAfter(1500, respond([said("Hello ".repeat(500))])), /closed the connection/],
  ])("midway and %s ends with an error event", async (_what, script, words) => {
    upstream.reply("/responses", script());
    const { error: told } = await streamed(app, member.token, question);
    expect(told).toEqual({
      type: "error",
      error: { type: "api_error", message: expect.stringMatching(words) },
    });
    upstream.reply("/responses", script());
    expect(await failed(sdk().messages.stream(question).finalMessage())).toBeInstanceOf(APIError);
  });

  it("before its answer keeps its status and when to come back", async () => {
    for (const ask of [
      () => sdk().messages.create(question),
      () => sdk().messages.stream(question).finalMessage(),
    ]) {
      upstream.reply("/responses", rateLimited({ seconds: 3, message: "Slow down" }));
      const refused = await failed(ask());
      expect(refused).toBeInstanceOf(RateLimitError);
      expect([refused.apiMessage, refused.headers?.get("retry-after")]).toEqual(["Slow down", "3"]);
    }
  });
});

it("is counted once, with what the upstream told", async () => {
  const other = await app.user();
  for (const stream of [false, true]) {
    upstream.reply("/responses", respond([said("Hi")]));
    const body = { ...question, stream };
    expect((await other.call("POST /api/message", body)).status).toBe(200);
  }
  const rows = async () => (await admin.call(`GET /api/v1/analytics/messages?user_id=${other.id}`)).body;
  await expect.poll(async () => (await rows()).length, { timeout: 5000 }).toBe(2);
  const row = { estimated: false, outcome: "completed", usage: { input_tokens: 100, output_tokens: 20 } };
  expect(await rows()).toMatchObject([row, row]);
});
