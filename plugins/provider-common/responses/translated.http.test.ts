import OpenAI from "openai";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { chunk, textChunks } from "#test/support/upstream-chunks.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { errorFrame, json, rateLimited, sse, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import {
  fromAssistant,
  fromSystem,
  fromTool,
  fromUser,
  textPart,
  toolCall,
} from "#test/support/wire-parts.ts";
import { streams } from "./format.fixture.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;
let member: TestUser;

setUp(async (keep) => {
  upstream = await keep(startUpstream());
  upstream.models = ["m"];
  const everyone = { access: "everyone", api_type: "chat" };
  const configs = {
    0: everyone,
    1: { ...everyone, prefix_id: "p", extra_params: { service_tier: "flex" } },
    2: { api_type: "chat", prefix_id: "hidden" },
    3: { ...everyone, provider: "anthropic", prefix_id: "v", model_ids: ["claude"] },
  };
  app = await keep(
    startApp({
      env: {
        OPENAI_API_BASE_URLS:
          [1, 2, 3].map((n) => upstream.url + "/".repeat(n - 1)).join(";") + `;${upstream.origin}`,
        OPENAI_API_CONFIGS: JSON.stringify(configs),
      },
    }),
  );
  admin = await app.admin();
  member = await app.user();
});

const sdk = () => new OpenAI({ baseURL: `${app.url}/compat`, apiKey: member.token, maxRetries: 0 });
const sent = () => upstream.requests.findLast(({ path }) => path.endsWith("/chat/completions"))!.body;
const ask = (body: object) => member.call("POST /compat/responses", { model: "m", input: "Hi", ...body });
const typesOf = (events: readonly ResponseStreamEvent[]) =>
  events.map(({ type }) => type.replace(/^response\./, "")).filter((type, at, all) => type !== all[at - 1]);

describe.each(Object.entries(streams))(
  "%s of a chat upstream",
  (_name, [frames, { output, events, more }]) => {
    it.each(["bytes", undefined] as const)("streams with all of its events, cut at %s", async (split) => {
      upstream.reply("/chat/completions", sse(frames, { split }));
      const got = await Array.fromAsync(
        await sdk().responses.create({ model: "m", input: "Hi", stream: true }),
      );
      expect(got.map(({ sequence_number: number }) => number)).toEqual(got.map((_event, at) => at));
      expect(typesOf(got)).toEqual(["created", "in_progress", ...events]);
      expect(got[0]).toMatchObject({ response: { object: "response", status: "in_progress", output: [] } });
      expect(got.at(-1)).toMatchObject({ response: { status: "completed", model: "m", ...more, output } });
      expect((got.at(-1) as { response: { output: unknown[] } }).response.output).toHaveLength(output.length);
    });

    it("comes whole where a whole was asked for", async () => {
      upstream.reply("/chat/completions", sse(frames));
      const response = await sdk().responses.create({ model: "m", input: "Hi" });
      expect(response).toMatchObject({
        object: "response",
        status: "completed",
        model: "m",
        ...more,
        output,
      });
      expect(sent()).toEqual({ model: "m", stream: false, messages: [fromUser("Hi")] });
    });
  },
);

it("asks a chat upstream for everything that was asked", async () => {
  const schema = { type: "object", properties: {} };
  upstream.reply("/chat/completions", text("Hello"));
  await ask({
    model: "p.m",
    instructions: "S",
    input: [
      fromUser([
        { type: "input_text", text: "a" },
        { type: "input_image", image_url: "data:image/png;base64,AA" },
      ]),
      { type: "reasoning", id: "rs_1", summary: [] },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "42" },
    ],
    tools: [{ type: "function", name: "f", parameters: schema, strict: true }, { type: "web_search" }],
    tool_choice: { type: "function", name: "f" },
    parallel_tool_calls: false,
    max_output_tokens: 9,
    temperature: 0.5,
    reasoning: { effort: "low" },
    text: { format: { type: "json_schema", name: "n", schema } },
    store: true,
    metadata: { a: "b" },
    previous_response_id: "resp_0",
    filter_ids: ["x"],
  });
  expect(sent()).toEqual({
    model: "m",
    service_tier: "flex",
    stream: false,
    messages: [
      fromSystem("S"),
      fromUser([textPart("a"), { type: "image_url", image_url: { url: "data:image/png;base64,AA" } }]),
      fromAssistant(null, { tool_calls: [toolCall("c1", "f", "{}")] }),
      fromTool("c1", "42"),
    ],
    tools: [{ type: "function", function: { name: "f", parameters: schema, strict: true } }],
    tool_choice: { type: "function", function: { name: "f" } },
    parallel_tool_calls: false,
    max_tokens: 9,
    temperature: 0.5,
    reasoning_effort: "low",
    response_format: { type: "json_schema", json_schema: { name: "n", schema } },
  });
});

it("fills in what the model has saved, and answers under the model's own name", async () => {
  const record = {
    id: "pirate",
    base_model_id: "p.m",
    name: "Pirate",
    meta: {},
    params: { system: "Talk like {{USER_NAME}}", temperature: 0.2 },
    access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }],
  };
  await admin.call("POST /api/v1/models/create", record);
  upstream.reply("/chat/completions", text("Arr"));
  const answer = await ask({ model: "pirate", instructions: "Be brief" });
  expect(answer.body).toMatchObject({ model: "pirate", output: [{ content: [{ text: "Arr" }] }] });
  expect(sent()).toMatchObject({
    model: "m",
    temperature: 0.2,
    messages: [fromSystem(`Talk like ${member.name}\nBe brief`), { role: "user" }],
  });
});

it.each([false, true])("puts it to an upstream of the vendor's format too, streamed: %s", async (stream) => {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [textPart("Bonjour")],
    stop_reason: "end_turn",
    usage: { input_tokens: 7, output_tokens: 5 },
  };
  upstream.reply("/v1/messages", json(message));
  const answer = stream
    ? await sdk().responses.stream({ model: "v.claude", input: "Hi" }).finalResponse()
    : await sdk().responses.create({ model: "v.claude", input: "Hi" });
  expect(answer).toMatchObject({ status: "completed", model: "v.claude", output_text: "Bonjour" });
  const asked = upstream.requests.findLast(({ path }) => path.endsWith("/v1/messages"))!.body;
  expect(asked).toMatchObject({ model: "claude", messages: [{ role: "user" }] });
});

it.each(["hidden.m", "nothing", "guide"])(
  "does not know %s, which is not there for this caller",
  async (model) => {
    const { status, body } = await ask({ model });
    expect([status, body.error.message]).toEqual([404, "Model not found"]);
  },
);

describe("failures", () => {
  it.each([{ stream: true }, {}])("before the answer keep the provider's status: %j", async (how) => {
    upstream.reply("/chat/completions", rateLimited({ seconds: 3, message: "Too fast" }));
    const answer = await ask(how);
    expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("retry-after-ms")]).toEqual([
      429,
      "3",
      "3000",
    ]);
    expect(answer.body.error.message).toBe("Too fast");
  });

  it.each([
    ["a frame that reports one", sse([...textChunks("Some text").slice(0, 3), errorFrame("Overheated")])],
    ["a reset", resetAfter(900, sse(textChunks("Some text that goes on and on and on and on and on")))],
    ["something else", sse(["<p>Hello</p>\n\n"], { done: false })],
  ])("midway are told by %s", async (_what, script) => {
    upstream.reply("/chat/completions", script);
    const events = await Array.fromAsync(
      await sdk().responses.create({ model: "m", input: "Hi", stream: true }),
    );
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: {
        status: "failed",
        error: {
          code: "server_error",
          message: expect.stringMatching(/Overheated|closed the connection|not an event stream/),
        },
      },
    });
  });

  it.each([
    ["model", { model: undefined }],
    ["model", { model: 5 }],
    ["input", { input: undefined }],
    ["input", { input: 5 }],
    ["input[0].id", { input: [{ type: "item_reference", id: "x" }] }],
    ["input[0].type", { input: [{ type: "computer_call", id: "x" }] }],
    ["input[0].role", { input: [{ role: "tool", content: "b" }] }],
    ["tools[0].name", { tools: [{ type: "function" }] }],
    ["temperature", { temperature: "hot" }],
    ["max_output_tokens", { max_output_tokens: 0 }],
    ["background", { background: true }],
  ])("of a request name %s", async (field, body) => {
    const answer = await ask(body);
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(field)]);
  });

  it("abort the upstream when the caller leaves", async () => {
    upstream.reply("/chat/completions", async (exchange) => {
      await exchange.start(200, { "content-type": "text/event-stream" });
      await exchange.write(`data: ${JSON.stringify(chunk({ content: "a" }))}\n\n`);
      await exchange.hold();
    });
    const arrived = upstream.nextRequest(({ body }) => body?.seed === 99);
    const asked = { model: "m", input: "Hi", stream: true as const, seed: 99 };
    const stream = await sdk().responses.create(asked);
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") {
        break;
      }
    }
    await expect((await arrived).aborted).resolves.toBeTypeOf("number");
  });
});

it(
  "says that a chat upstream remembers nothing where it is told to remember, and 503 while connections are off",
  { timeout: 120_000 },
  async () => {
    const start = (more: Record<string, string>) =>
      startApp({
        env: { OPENAI_API_BASE_URLS: upstream.url, OPENAI_API_CONFIGS: '{"0":{"api_type":"chat"}}', ...more },
      });
    for (const [more, status, words] of [
      [{ ENABLE_RESPONSES_API_STATEFUL: "true" }, 400, "previous_response_id"],
      [{ ENABLE_OPENAI_API: "false" }, 503, ""],
    ] as const) {
      const other = await start(more);
      const boss = await other.admin();
      const body = { model: "m", input: "Hi", previous_response_id: "resp_0" };
      const answer = await boss.call("POST /compat/responses", body);
      expect([answer.status, answer.body.error.message]).toEqual([status, expect.stringContaining(words)]);
      await other.close();
    }
  },
);
