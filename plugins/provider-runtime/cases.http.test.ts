import OpenAI from "openai";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";
import { json, jsonLines } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

// Protocol cases of the Responses format below /runtime, each under the id that it has in the list of cases.

let runtime: Runtime;
let other: Upstream;
let app: App;
let member: TestUser;
let sdk: OpenAI;

beforeAll(async () => {
  runtime = await startRuntime(["llama"]);
  other = await startUpstream();
  other.models = ["r"];
  app = await startApp({
    env: {
      OLLAMA_BASE_URLS: runtime.origin,
      OLLAMA_API_CONFIGS: '{"0": {"access": "everyone"}}',
      OPENAI_API_BASE_URLS: other.url,
      OPENAI_API_CONFIGS: '{"0": {"access": "everyone", "api_type": "responses"}}',
    },
  });
  member = await app.user();
  sdk = new OpenAI({ baseURL: `${app.url}/runtime/v1`, apiKey: member.token, maxRetries: 0 });
  await app.call("GET /api/models?refresh=true", { token: (await app.admin()).token });
});
afterAll(async () => {
  await app.close();
  await Promise.all([runtime.close(), other.close()]);
});

const line = (message: object, more: object = {}) => ({
  model: "llama",
  message: { role: "assistant", content: "", ...message },
  done: false,
  ...more,
});
const last = line({}, { done: true, done_reason: "stop", prompt_eval_count: 10, eval_count: 5 });
const typesOf = (events: readonly ResponseStreamEvent[]) =>
  events.map(({ type }) => type.replace("response.", ""));

it("O61", async () => {
  runtime.reply(
    "/api/chat",
    json(line({ content: "Hello" }, { done: true, prompt_eval_count: 10, eval_count: 5 })),
  );
  const response = await sdk.responses.create({ model: "llama", input: "Hi", stream: false });
  expect(response).toMatchObject({
    object: "response",
    status: "completed",
    output: [{ type: "message", content: [{ type: "output_text", text: "Hello" }] }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  });
  expect(runtime.last("/api/chat").body).toMatchObject({
    model: "llama",
    stream: false,
    messages: [{ role: "user", content: "Hi" }],
  });
});

it("O62", async () => {
  runtime.reply(
    "/api/chat",
    jsonLines([line({ content: "Hel" }), line({ content: "lo" }), last], { split: "bytes" }),
  );
  const events = await Array.fromAsync(
    await sdk.responses.create({ model: "llama", input: "Hi", stream: true }),
  );
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, at) => at));
  expect(typesOf(events)).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "completed",
  ]);
});

it("O63", async () => {
  const call = { function: { name: "weather", arguments: { city: "Łódź" } } };
  runtime.reply("/api/chat", jsonLines([line({ tool_calls: [call] }), last]));
  const stream = sdk.responses.stream({
    model: "llama",
    input: "Hi",
    tools: [{ type: "function", name: "weather", parameters: { type: "object" }, strict: false }],
  });
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) {
    events.push(event);
  }
  expect(typesOf(events).slice(2)).toEqual([
    "output_item.added",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "output_item.done",
    "completed",
  ]);
  expect(events[2]).toMatchObject({
    item: { type: "function_call", name: "weather", status: "in_progress" },
  });
  expect(events.at(-2)).toMatchObject({
    item: { type: "function_call", status: "completed", arguments: '{"city":"Łódź"}' },
  });
});

it("O67 off", async () => {
  for (const [model, upstream] of [
    ["llama", runtime],
    ["r", other],
  ] as const) {
    if (model === "r") {
      other.reply("/responses", json({ object: "response", output: [] }));
    }
    await sdk.responses.create({ model, input: "Hi", previous_response_id: "resp_0" });
    const sent = upstream.requests.findLast(({ method }) => method === "POST")!.body;
    expect(sent).not.toHaveProperty("previous_response_id");
  }
});

it("O67 on", async () => {
  const stateful = await startApp({
    env: {
      ENABLE_RESPONSES_API_STATEFUL: "true",
      OPENAI_API_BASE_URLS: other.url,
      OPENAI_API_CONFIGS: '{"0": {"access": "everyone", "api_type": "responses"}}',
    },
  });
  try {
    const admin = await stateful.admin();
    other.reply("/responses", json({ object: "response", output: [] }));
    const body = { model: "r", input: "Hi", previous_response_id: "resp_0" };
    expect((await admin.call("POST /runtime/v1/responses", body)).status).toBe(200);
    expect(other.requests.at(-1)?.body.previous_response_id).toBe("resp_0");
  } finally {
    await stateful.close();
  }
});

it.each([
  ["O69 an unknown model", "none"],
  ["O69 a model that is not the caller's", "llama"],
])("%s", async (_id, model) => {
  const closed = await startApp({ env: { OLLAMA_BASE_URLS: runtime.origin } });
  try {
    const user = await closed.user();
    const answer = await user.call("POST /runtime/v1/responses", { model, input: "Hi" });
    expect([answer.status, answer.body]).toMatchObject([404, { error: { message: "Model not found" } }]);
  } finally {
    await closed.close();
  }
});
