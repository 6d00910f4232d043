import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { chunk, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { errorFrame, rateLimited, sse, text, tokens } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { toolbox } from "./tools/tools.fixture.ts";

// Protocol cases of the common chat format, each under the id that it has in the list of cases.

let app: App;
let upstream: Upstream;
let admin: TestUser;
let sdk: OpenAI;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    startAppWithUpstream({
      models: ["alpha", "counted"],
      connection: {},
      plugins: [toolbox],
      env: { CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE: "" },
    }),
  ));
  admin = await app.admin();
  sdk = new OpenAI({ baseURL: `${app.url}/api`, apiKey: admin.token, maxRetries: 0 });
  const record = {
    id: "counted",
    base_model_id: null,
    name: "C",
    meta: { capabilities: { usage: true } },
    params: {},
  };
  await admin.call("POST /api/v1/models/create", record);
});

const path = "/chat/completions";
const question = { model: "alpha", messages: [{ role: "user" as const, content: "Hi" }] };
const ask = (more: object = {}) => admin.call(`POST /api${path}`, { ...question, ...more });
const sent = () => upstream.requests.findLast((request) => request.path.endsWith(path))?.body;
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

describe("streams", () => {
  it("O1", async () => {
    const frames = textChunks(["Grü", "ße 世界"]).map(
      (each, at) => `data:${" ".repeat(at)}${JSON.stringify(each)}\n\n`,
    );
    upstream.reply(path, sse(frames));
    const answer = await ask({ stream: true });
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(answer.text).toBe(`${frames.join("")}data: [DONE]\n\n`);
  });

  it("O2", async () => {
    const calls = [
      { id: "a", name: "one", arguments: '{"city":"Łódź"}' },
      { id: "b", name: "two", arguments: '{"days":3}' },
    ];
    upstream.reply(path, sse(toolCallChunks(calls, { pieces: 3 }), { split: "bytes" }));
    const { choices } = await sdk.chat.completions.stream(question).finalChatCompletion();
    expect(choices[0]?.message.tool_calls).toMatchObject(
      calls.map(({ id, ...called }) => ({ id, type: "function", function: called })),
    );
  });

  it("O8", async () => {
    upstream.reply(path, sse(textChunks("Hi", { usage })));
    const chunks = await Array.fromAsync(
      await sdk.chat.completions.create({
        ...question,
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
    expect(chunks.slice(0, -1).every((each) => each.choices.length === 1)).toBe(true);
  });

  it.each([
    ["O27 an error frame", () => sse([chunk({ content: "Hel" }), errorFrame("Out of memory")])],
    ["O27 a reset", () => resetAfter(700, sse(textChunks("one two three four five six")))],
  ])("%s", async (_id, script) => {
    upstream.reply(path, script());
    const pieces: string[] = [];
    const reading = async () => {
      for await (const each of await sdk.chat.completions.create({ ...question, stream: true })) {
        pieces.push(each.choices[0]?.delta.content ?? "");
      }
    };
    // A line that was cut off has gone out already: clients stumble over it, or over the error behind it.
    await expect(reading()).rejects.toThrow(/Out of memory|closed the connection|malformed/);
    expect(pieces.join("")).not.toBe("");
  });

  it("O36", async () => {
    upstream.reply(path, tokens(500, 20));
    const leaving = new AbortController();
    const asked = upstream.nextRequest(({ body }) => body?.seed === 36);
    const stream = await sdk.chat.completions.create(
      { ...question, stream: true, seed: 36 },
      { signal: leaving.signal },
    );
    for await (const _each of stream) {
      leaving.abort();
    }
    expect(await (await asked).aborted).toBeGreaterThan(0);
  });
});

it("O28", async () => {
  const small = await startApp({
    env: { OPENAI_API_BASE_URLS: upstream.url, CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE: "1000" },
  });
  try {
    const { token } = await small.admin();
    upstream.reply(path, sse(textChunks(["a", "x".repeat(2000), "b"])));
    const client = new OpenAI({ baseURL: `${small.url}/api`, apiKey: token, maxRetries: 0 });
    const stream = client.chat.completions.stream(question);
    const { choices } = await stream.finalChatCompletion();
    expect([choices[0]?.message.content, choices[0]?.finish_reason]).toEqual(["ab", "stop"]);
  } finally {
    await small.close();
  }
});

it.each([true, false])("O11, streamed: %s", async (stream) => {
  upstream.reply(path, text("Hi"));
  await ask({ model: "counted", stream, stream_options: { include_usage: false, x: 1 } });
  expect(sent().stream_options).toEqual({ include_usage: stream, x: 1 });
});

it.each([true, false])("O29, streamed: %s", async (stream) => {
  upstream.reply(path, rateLimited({ seconds: 7, message: "Slow down" }));
  const answer = await ask({ stream });
  expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("retry-after-ms")]).toEqual([
    429,
    "7",
    "7000",
  ]);
  expect(answer.body).toEqual({ error: { message: "Slow down", type: "mock_error", code: 429 } });
});

const own = [{ type: "function", function: { name: "f", parameters: { type: "object" } }, odd: true }];
it.each<[string, object, object]>([
  ["O30 no tools", { tools: [], tool_ids: ["toolbox.clock"] }, { tools: [] }],
  ["O30 the caller's tools", { tools: own, tool_ids: ["toolbox.clock"] }, { tools: own }],
  [
    "O31",
    {
      tools: own,
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: false,
      response_format: { type: "json_object" },
      logit_bias: { "50256": -100 },
      seed: 7,
      stop: ["a", "b"],
    },
    {
      tools: own,
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: false,
      response_format: { type: "json_object" },
      logit_bias: { "50256": -100 },
      seed: 7,
      stop: ["a", "b"],
    },
  ],
])("%s", async (_id, more, expected) => {
  upstream.reply(path, text("Hi"));
  await ask(more);
  expect(sent()).toEqual({ ...question, ...expected });
});
