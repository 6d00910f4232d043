import { describe, expect, it, test } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { setUp } from "#test/support/set-up.ts";
import { html } from "#test/support/upstream-faults.ts";
import { body, failure, json, rateLimited, sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { answers, completion } from "./answers.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    startAppWithUpstream({
      models: ["alpha"],
      connection: { passthrough_params: "top_k, min_p" },
      env: { CUSTOM_API_KEY_HEADER: "X-House-Key" },
    }),
  ));
  admin = await app.admin();
});

const question = { model: "alpha", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };
const ask = (more: object = {}, headers: Record<string, string> = {}) =>
  admin.call("POST /api/v1/messages", { ...question, ...more }, headers);

test.each(Object.entries(answers))("%s as a whole", async (_name, [answered, content, stop, more]) => {
  upstream.reply("/chat/completions", json(answered));
  const answer = await ask();
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      id: expect.stringMatching(/^msg_\w+$/),
      type: "message",
      role: "assistant",
      model: "alpha",
      content,
      stop_reason: stop,
      stop_sequence: null,
      usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
      ...more,
    },
  ]);
});

test.each([
  [
    { prompt_tokens: 10, completion_tokens: 5 },
    { input_tokens: 10, output_tokens: 5 },
  ],
  [
    { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 30 } },
    { input_tokens: 70, output_tokens: 5, cache_read_input_tokens: 30 },
  ],
  [
    {
      prompt_tokens: 100,
      completion_tokens: 5,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 20,
    },
    { input_tokens: 50, output_tokens: 5, cache_read_input_tokens: 30, cache_creation_input_tokens: 20 },
  ],
  ...["cache_write_tokens", "cache_creation_tokens", "created_tokens"].map((name): [object, object] => [
    {
      prompt_tokens: 100,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 30, [name]: 20 },
    },
    { input_tokens: 50, output_tokens: 5, cache_read_input_tokens: 30, cache_creation_input_tokens: 20 },
  ]),
  [
    { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cache_write_tokens: 0 } },
    { input_tokens: 100, output_tokens: 5, cache_creation_input_tokens: 0 },
  ],
  [
    { input_tokens: 9, output_tokens: 2, input_tokens_details: { cached_tokens: 4 } },
    { input_tokens: 5, output_tokens: 2, cache_read_input_tokens: 4 },
  ],
  [
    {
      prompt_tokens: 1,
      completion_tokens: 2,
      output_tokens_details: { thinking_tokens: 1 },
      server_tool_use: { web_search_requests: 1 },
      service_tier: "standard",
      cost: 3,
    },
    {
      input_tokens: 1,
      output_tokens: 2,
      output_tokens_details: { thinking_tokens: 1 },
      server_tool_use: { web_search_requests: 1 },
      service_tier: "standard",
    },
  ],
  [undefined, { input_tokens: 0, output_tokens: 0 }],
])("usage %j becomes %j", async (usage, expected) => {
  upstream.reply("/chat/completions", json({ ...completion({ content: "Hi" }), usage }));
  expect((await ask()).body.usage).toEqual(expected);
});

it("asks the upstream for what was asked, with the parameters that the connection passes on", async () => {
  upstream.reply("/chat/completions", json(completion({ content: "Hi" })));
  await ask({ system: "S", top_k: 5, min_p: 0.1, service_tier: "auto", stop_sequences: ["x"] });
  expect(upstream.requests.at(-1)?.body).toEqual({
    model: "alpha",
    max_tokens: 100,
    messages: [
      { role: "system", content: "S" },
      { role: "user", content: "Hi" },
    ],
    stop: ["x"],
    top_k: 5,
    min_p: 0.1,
  });
});

it("asks for usage only where the model has that capability", async () => {
  const asked = async () => {
    upstream.reply("/chat/completions", sse([]));
    await ask({ stream: true });
    return upstream.requests.findLast(({ path }) => path.endsWith("/chat/completions"))?.body.stream_options;
  };
  expect(await asked()).toBeUndefined();
  const record = {
    id: "alpha",
    base_model_id: null,
    name: "Alpha",
    meta: { capabilities: { usage: true } },
    params: {},
  };
  await admin.call("POST /api/v1/models/create", record);
  expect(await asked()).toEqual({ include_usage: true });
});

describe("who may ask", () => {
  const wrong = { type: "error", error: { type: "authentication_error", message: expect.any(String) } };

  it.each(["x-api-key", "X-House-Key", "authorization"])("a caller with a key in %s", async (name) => {
    const made = await admin.call("POST /api/v1/auths/api_key");
    const key = made.body.api_key as string;
    upstream.reply("/chat/completions", json(completion({ content: "Hi" })));
    const answer = await app.call("POST /api/message", {
      body: question,
      headers: { [name]: name === "authorization" ? `Bearer ${key}` : key },
    });
    expect(answer.status).toBe(200);
  });

  it.each<Record<string, string>>([{}, { "x-api-key": "sk-wrong" }, { authorization: "Bearer sk-wrong" }])(
    "nobody with %j",
    async (headers) => {
      const answer = await app.call("POST /api/v1/messages", { body: question, headers });
      expect([answer.status, answer.body]).toEqual([401, wrong]);
      expect(answer.headers.get("request-id")).toMatch(/^[\w-]+$/);
    },
  );

  it("no pending account", async () => {
    const pending = await app.user("pending");
    const answer = await pending.call("POST /api/v1/messages", question);
    expect([answer.status, answer.body.error.type]).toEqual([403, "permission_error"]);
  });

  it("nobody asks a model that is unknown or not theirs: both look alike", async () => {
    const user = await app.user();
    const foreign = await user.call("POST /api/v1/messages", question);
    const unknown = await user.call("POST /api/v1/messages", { ...question, model: "none" });
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
    expect(unknown.body).toEqual({
      type: "error",
      error: { type: "not_found_error", message: "Model not found" },
    });
  });
});

describe("what cannot be answered", () => {
  it.each([
    [{ model: undefined }, "body.model"],
    [{ max_tokens: undefined }, "body.max_tokens"],
    [{ messages: [] }, "body.messages"],
    [{ messages: [{ role: "user", content: [{ type: "hologram" }] }] }, "body.messages.0.content.0.type"],
  ])("is refused by its place: %j", async (more, place) => {
    const answer = await ask(more);
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        type: "error",
        error: { type: "invalid_request_error", message: expect.stringContaining(`${place}: `) },
      },
    ]);
  });

  it("is refused when the conversation is somewhere else, in the words that clients know", async () => {
    const answer = await ask({ thread: { type: "continue", previous_message_id: "msg_1" } });
    expect([answer.status, answer.body.error]).toEqual([
      400,
      {
        type: "invalid_request_error",
        message: expect.stringContaining("`thread`"),
        details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
      },
    ]);
  });

  it("is refused when it is no JSON", async () => {
    const answer = await admin.call("POST /api/message", "{");
    expect([answer.status, answer.body.error.type]).toEqual([400, "invalid_request_error"]);
  });

  it.each([true, false])("is told as the upstream told it, with stream: %s", async (stream) => {
    upstream.reply("/chat/completions", rateLimited({ seconds: 3, message: "Slow down" }));
    const answer = await ask({ stream });
    expect([answer.status, answer.body]).toEqual([
      429,
      { type: "error", error: { type: "rate_limit_error", message: "Slow down" } },
    ]);
    expect([answer.headers.get("retry-after"), answer.headers.get("retry-after-ms")]).toEqual(["3", "3000"]);
  });

  it.each([
    [html(), 502, "api_error"],
    [failure(503, "Busy"), 503, "overloaded_error"],
    [failure(529, "Busy"), 529, "overloaded_error"],
    [failure(402, "No money"), 402, "billing_error"],
    [failure(413, "Too large"), 413, "request_too_large"],
    [failure(400, "Too long"), 400, "invalid_request_error"],
    [body("{", { headers: { "content-type": "application/json" } }), 502, "api_error"],
  ])("is told with the status %#", async (script, status, type) => {
    upstream.reply("/chat/completions", script);
    const answer = await ask();
    expect([answer.status, answer.body.type, answer.body.error.type]).toEqual([status, "error", type]);
  });
});

describe("counting tokens", () => {
  const count = (model = "alpha") =>
    admin.call("POST /api/message/count_tokens", { model, messages: question.messages });

  it("is the upstream's to do, and needs no limit", async () => {
    upstream.reply("/v1/messages/count_tokens", json({ input_tokens: 8 }));
    expect((await count()).body).toEqual({ input_tokens: 8 });
    expect(upstream.requests.at(-1)?.body).toEqual({
      model: "alpha",
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    });
  });

  it.each([
    ["cannot", failure(404, "No such route")],
    ["refuses", failure(400, "What?")],
    ["breaks", failure(500, "Oops")],
    ["answers something else", json({ tokens: 8 })],
    ["answers half a token", json({ input_tokens: 1.5 })],
    ["answers a page", html()],
    ["answers no JSON", body("12")],
  ])("fails with 502 where the upstream %s", async (_what, script) => {
    upstream.reply("/v1/messages/count_tokens", script);
    const answer = await count();
    expect([answer.status, answer.body]).toEqual([
      502,
      { type: "error", error: { type: "api_error", message: expect.any(String) } },
    ]);
  });

  it("fails with 502 for a model without an upstream", async () => {
    expect((await count("guide")).status).toBe(502);
  });

  it.each([
    ["know counting", failure(404, "No such route"), "false"],
    ["work just now", failure(503, "Busy"), null],
  ])("tells clients whether to ask again where upstreams do not %s", async (_what, script, expected) => {
    upstream.reply("/v1/messages/count_tokens", script);
    expect((await count()).headers.get("x-should-retry")).toBe(expected);
  });

  it("comes back with the upstream's own wait", async () => {
    upstream.reply("/v1/messages/count_tokens", rateLimited({ seconds: 3 }));
    const answer = await count();
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "3"]);
  });
});

it("runs filters, and answers with every kind of provider, the built-in guide too", async () => {
  const answer = await ask({ model: "guide" });
  expect([answer.status, answer.body.content[0].type]).toEqual([200, "text"]);
});
