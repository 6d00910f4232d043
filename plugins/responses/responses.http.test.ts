import OpenAI from "openai";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, it } from "vitest";
import { defineFilter } from "#kernel/pipeline/filter.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { json, sse, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

/** Shouts where a request wants it, so that filters can be seen to run. */
const shout = defineFilter({
  id: "shouter.shout",
  name: "Shout",
  priority: 0,
  inlet: (request) => ({ ...request, seed: 7 }),
  stream(piece) {
    const delta = piece.choices?.[0]?.delta;
    if (delta?.content) {
      delta.content = delta.content.toUpperCase();
    }
    return piece;
  },
});
const shouter = definePlugin({
  id: "shouter",
  title: "Shouts",
  setup: () => ({
    filters: [
      { id: "shouter.source", select: ({ filterIds }) => (filterIds.includes(shout.id) ? [shout] : []) },
    ],
  }),
});

let upstream: Upstream;
let app: App;
let member: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    startAppWithUpstream({
      models: ["m"],
      connections: [{ access: "everyone" }, { access: "everyone", prefix_id: "p" }, { prefix_id: "hidden" }],
      plugins: [shouter],
    }),
  ));
  member = await app.user();
});

const sdk = () => new OpenAI({ baseURL: `${app.url}/runtime/v1`, apiKey: member.token, maxRetries: 0 });
const sent = () => upstream.requests.findLast(({ path }) => path.endsWith("/chat/completions"))!.body;
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 30 },
  completion_tokens_details: { reasoning_tokens: 8 },
};

/** All events of a streamed answer, held to the rules that hold for each of them. */
async function eventsOf(body: object): Promise<ResponseStreamEvent[]> {
  const stream = await sdk().responses.create({ model: "m", input: "Hi", ...body, stream: true });
  const events = await Array.fromAsync(stream);
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, at) => at));
  return events;
}

const typesOf = (events: readonly ResponseStreamEvent[]) =>
  events.map(({ type }) => type.replace(/^response\./, "")).filter((type, at, all) => type !== all[at - 1]);

describe("whole answers", () => {
  it("answer a text with a text", async () => {
    upstream.always("/chat/completions", text("Hello there", { usage }));
    const response = await sdk().responses.create({ model: "m", input: "Hi", instructions: "Be kind" });
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      model: "m",
      error: null,
      incomplete_details: null,
      instructions: "Be kind",
      output_text: "Hello there",
      output: [
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hello there", annotations: [] }],
        },
      ],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 30 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 8 },
        total_tokens: 120,
      },
    });
    expect(response.id).toMatch(/^resp_[0-9a-f]{32}$/);
    expect(sent()).toEqual({
      model: "m",
      stream: false,
      messages: [
        { role: "system", content: "Be kind" },
        { role: "user", content: "Hi" },
      ],
    });
  });

  it.each([
    ["length", "max_output_tokens"],
    ["content_filter", "content_filter"],
  ])("that ended by %s are incomplete", async (finish, reason) => {
    upstream.always("/chat/completions", text("Hel", { finish }));
    const whole = await sdk().responses.create({ model: "m", input: "Hi" });
    const streamed = (await eventsOf({})).at(-1);
    expect(streamed).toMatchObject({ type: "response.incomplete" });
    for (const response of [whole, (streamed as { response: typeof whole }).response]) {
      expect(response).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason },
        output: [{ status: "incomplete", content: [{ text: "Hel" }] }],
      });
    }
  });

  it("hold thoughts, refusals and calls as items of their own", async () => {
    const message = {
      role: "assistant",
      content: null,
      refusal: "I will not",
      reasoning_content: "Hm",
      tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"x":1}' } }],
    };
    upstream.reply(
      "/chat/completions",
      json({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] }),
    );
    const { output, status } = await sdk().responses.create({ model: "m", input: "Hi" });
    expect(status).toBe("completed");
    expect(output).toMatchObject([
      {
        type: "reasoning",
        summary: [],
        content: [{ type: "reasoning_text", text: "Hm" }],
        status: "completed",
      },
      { type: "message", content: [{ type: "refusal", refusal: "I will not" }] },
      { type: "function_call", call_id: "c1", name: "f", arguments: '{"x":1}', status: "completed" },
    ]);
  });
});

describe.each(["bytes", "characters", undefined] as const)("streams cut at %s", (split) => {
  it("tell a text from its beginning to its end", async () => {
    upstream.always("/chat/completions", sse(textChunks("Grüße an 世界 🌍", { usage }), { split }));
    const events = await eventsOf({});
    expect(typesOf(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    expect(events[0]).toMatchObject({ response: { status: "in_progress", output: [], model: "m" } });
    expect(events.at(-1)).toMatchObject({
      response: { status: "completed", usage: { input_tokens: 100, total_tokens: 120 } },
    });
    const final = await sdk().responses.stream({ model: "m", input: "Hi" }).finalResponse();
    expect(final.output_text).toBe("Grüße an 世界 🌍");
  });

  it("keep thoughts and texts apart", async () => {
    upstream.always(
      "/chat/completions",
      sse(reasoningChunks(["Let me ", "see"], ["An ", "answer"]), { split }),
    );
    const types = typesOf(await eventsOf({}));
    expect(types.slice(2)).toEqual([
      "output_item.added",
      "content_part.added",
      "reasoning_text.delta",
      "reasoning_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    const { output } = await sdk().responses.stream({ model: "m", input: "Hi" }).finalResponse();
    expect(output).toMatchObject([
      { type: "reasoning", content: [{ type: "reasoning_text", text: "Let me see" }] },
      { type: "message", content: [{ text: "An answer" }] },
    ]);
  });

  it("tell calls whose arguments come in turns", async () => {
    const calls = [
      { id: "a", name: "f", arguments: '{"city":"Zürich"}' },
      { id: "b", name: "g", arguments: "{}" },
    ];
    upstream.always("/chat/completions", sse(toolCallChunks(calls, { pieces: 3 }), { split }));
    const events = await eventsOf({});
    expect(events.filter(({ type }) => type === "response.output_item.added")).toMatchObject([
      {
        output_index: 0,
        item: { type: "function_call", status: "in_progress", call_id: "a", name: "f", arguments: "" },
      },
      { output_index: 1, item: { call_id: "b", name: "g" } },
    ]);
    expect(events.filter(({ type }) => type === "response.function_call_arguments.done")).toMatchObject([
      { output_index: 0, arguments: '{"city":"Zürich"}' },
      { output_index: 1, arguments: "{}" },
    ]);
    const { output } = await sdk().responses.stream({ model: "m", input: "Hi" }).finalResponse();
    expect(output).toMatchObject(
      calls.map(({ id, ...call }) => ({ type: "function_call", call_id: id, status: "completed", ...call })),
    );
  });
});

it("keeps its prefixes and hides models like chat completions do", async () => {
  upstream.always("/chat/completions", text("Hello"));
  expect(await sdk().responses.create({ model: "p.m", input: "Hi" })).toMatchObject({
    model: "p.m",
    output_text: "Hello",
  });
  expect(sent().model).toBe("m");
  const answers = await Promise.all(
    ["hidden.m", "nothing"].map((model) => member.call("POST /runtime/v1/responses", { model, input: "Hi" })),
  );
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  expect(answers[0]!.body).toEqual(answers[1]!.body);
});

it("runs the filters of chat completions", async () => {
  upstream.always("/chat/completions", sse(textChunks("quiet words")));
  const events = await eventsOf({ filter_ids: ["shouter.shout"] });
  expect(events.at(-1)).toMatchObject({ response: { output: [{ content: [{ text: "QUIET WORDS" }] }] } });
  expect(sent()["seed"]).toBe(7);
});

it("speaks for models of every provider", async () => {
  const final = await sdk()
    .responses.stream({ model: "guide", input: "How do I write a plugin?" })
    .finalResponse();
  expect(final.status).toBe("completed");
  expect(final.output_text.length).toBeGreaterThan(20);
});

it("forgets earlier responses unless it is told to remember, and then says that it cannot", async () => {
  upstream.always("/chat/completions", text("Hello"));
  const asked = { model: "m", input: "Hi", previous_response_id: "resp_0" };
  await sdk().responses.create(asked);
  expect(sent()).not.toHaveProperty("previous_response_id");
  const other = await startApp({
    env: {
      ENABLE_RESPONSES_API_STATEFUL: "true",
      OPENAI_API_BASE_URLS: upstream.url,
      OPENAI_API_CONFIGS: '{"0":{"access":"everyone"}}',
    },
  });
  const admin = await other.admin();
  expect(await admin.call("POST /runtime/v1/responses", asked)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("previous_response_id") } },
  });
  await other.close();
});
