import Anthropic, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { setUp } from "#test/support/set-up.ts";
import { chunk, reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { resetAfter, stallAfter } from "#test/support/upstream-faults.ts";
import { errorFrame, failure, json, rateLimited, sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { fromAssistant, fromTool, fromUser, textPart } from "#test/support/wire-parts.ts";
import { completion } from "./answers.fixture.ts";
import { replies } from "./replies.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;
let sdk: Anthropic;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ models: ["alpha"], connection: {} })));
  admin = await app.admin();
  sdk = connect({ apiKey: admin.token });
});

const connect = (options: ConstructorParameters<typeof Anthropic>[0]) =>
  new Anthropic({ baseURL: `${app.url}/api`, maxRetries: 0, ...options });

type Params = Anthropic.MessageCreateParamsNonStreaming;
const question: Params = { model: "alpha", max_tokens: 100, messages: [fromUser("Hi")] };
const lastAsked = () => upstream.requests.findLast(({ path }) => path.endsWith("/chat/completions"));
const failed = (asked: PromiseLike<unknown>) =>
  Promise.resolve(asked).then(
    () => expect.unreachable("this was answered"),
    (error: unknown) => error as APIError,
  );

describe("the vendor's client", () => {
  it("gets a whole answer, whichever way it sends its token or key", async () => {
    const made = await admin.call("POST /api/v1/auths/api_key");
    for (const credential of [
      { apiKey: admin.token },
      { apiKey: made.body.api_key as string },
      { authToken: admin.token },
      { authToken: made.body.api_key as string },
    ]) {
      upstream.reply("/chat/completions", json(completion({ content: "Grüße" })));
      const message = await connect(credential).messages.create(question);
      expect(message).toMatchObject({
        type: "message",
        role: "assistant",
        model: "alpha",
        content: [textPart("Grüße")],
        stop_reason: "end_turn",
        usage: { input_tokens: 10, output_tokens: 5 },
      });
      expect(message._request_id).toMatch(/^[\w-]+$/);
    }
  });

  it("asks with its previews too", async () => {
    upstream.reply("/chat/completions", json(completion({ content: "Hi" })));
    const message = await sdk.beta.messages.create({
      ...question,
      betas: ["interleaved-thinking-2025-05-14"],
    });
    expect(message.content).toMatchObject([textPart("Hi")]);
  });

  it("streams text as it comes", async () => {
    upstream.reply("/chat/completions", sse(textChunks(["Hel", "lo ", "世界"])));
    const stream = sdk.messages.stream(question);
    const pieces: string[] = [];
    stream.on("text", (piece) => void pieces.push(piece));
    const message = await stream.finalMessage();
    expect(pieces.join("")).toBe("Hello 世界");
    expect(await stream.finalText()).toBe("Hello 世界");
    expect([message.stop_reason, message.model]).toEqual(["end_turn", "alpha"]);
  });

  it("shows thoughts ahead of the text", async () => {
    upstream.reply("/chat/completions", sse(reasoningChunks(["Six times ", "seven."], ["4", "2"])));
    const stream = sdk.messages.stream(question);
    const thoughts: string[] = [];
    stream.on("thinking", (piece) => void thoughts.push(piece));
    const { content } = await stream.finalMessage();
    expect(content).toMatchObject([{ type: "thinking", thinking: "Six times seven." }, textPart("42")]);
    expect(thoughts.join("")).toBe("Six times seven.");
  });

  it.each(Object.entries(replies))("reads %s, byte by byte", async (_name, [frames, content, stop]) => {
    upstream.reply("/chat/completions", sse(frames, { split: "bytes" }));
    const message = await sdk.messages.stream(question).finalMessage();
    expect(message).toMatchObject({ content, stop_reason: stop });
  });

  it("goes through a loop of a tool", async () => {
    const weather = { id: "call_1", name: "weather", arguments: '{"city":"Łódź","days":3}' };
    upstream.reply(
      "/chat/completions",
      sse([chunk({ reasoning_content: "I need a tool." }), ...toolCallChunks([weather], { pieces: 7 })]),
    );
    const tools: Params["tools"] = [
      { name: "weather", input_schema: { type: "object", properties: { city: { type: "string" } } } },
    ];
    const first = await sdk.messages.stream({ ...question, tools }).finalMessage();
    const use = first.content.find((block) => block.type === "tool_use");
    expect([first.stop_reason, use?.name, use?.input]).toEqual([
      "tool_use",
      "weather",
      { city: "Łódź", days: 3 },
    ]);

    upstream.reply("/chat/completions", sse(textChunks("Sunny.")));
    const result = { type: "tool_result" as const, tool_use_id: use?.id ?? "", content: "21 °C" };
    const second = sdk.messages.stream({
      ...question,
      tools,
      messages: [...question.messages, fromAssistant(first.content), fromUser([result])],
    });
    expect(await second.finalText()).toBe("Sunny.");
    const [, turn, answer] = lastAsked()?.body.messages ?? [];
    expect(turn).toMatchObject({
      role: "assistant",
      tool_calls: [{ id: "call_1", function: { name: "weather", arguments: expect.any(String) } }],
    });
    expect(JSON.parse(turn.tool_calls[0].function.arguments)).toEqual({ city: "Łódź", days: 3 });
    expect(answer).toMatchObject(fromTool("call_1", "21 °C"));
  });

  it("stops the upstream when it leaves", async () => {
    upstream.reply("/chat/completions", stallAfter(300, sse(textChunks("one two three four"))));
    const stream = sdk.messages.stream(question);
    const end = failed(stream.finalMessage());
    await new Promise((resolve) => stream.once("streamEvent", resolve));
    stream.abort();
    expect(await end).toBeInstanceOf(APIUserAbortError);
    await lastAsked()?.aborted;
  });
});

describe("the vendor's client throws", () => {
  const streamedOrNot = (more: Partial<Params>, client = sdk) => [
    () => client.messages.create({ ...question, ...more }),
    () => client.messages.stream({ ...question, ...more }).finalMessage(),
  ];

  it("an AuthenticationError for a wrong key", async () => {
    for (const ask of streamedOrNot({}, connect({ apiKey: "sk-wrong" }))) {
      const error = await failed(ask());
      expect(error).toBeInstanceOf(AuthenticationError);
      expect([error.status, error.type]).toEqual([401, "authentication_error"]);
      expect(error.requestID).toMatch(/^[\w-]+$/);
    }
  });

  it("a NotFoundError for an unknown model", async () => {
    for (const ask of streamedOrNot({ model: "none" })) {
      const error = await failed(ask());
      expect(error).toBeInstanceOf(NotFoundError);
      expect([error.type, error.apiMessage]).toEqual(["not_found_error", "Model not found"]);
    }
  });

  it("a RateLimitError that says when to come back", async () => {
    for (const ask of streamedOrNot({})) {
      upstream.reply("/chat/completions", rateLimited({ seconds: 3, message: "Slow down" }));
      const error = (await failed(ask())) as RateLimitError;
      expect(error).toBeInstanceOf(RateLimitError);
      expect([error.type, error.apiMessage]).toEqual(["rate_limit_error", "Slow down"]);
      expect([error.headers.get("retry-after"), error.headers.get("retry-after-ms")]).toEqual(["3", "3000"]);
    }
  });

  it("nothing when its own second try is answered", async () => {
    upstream.reply("/chat/completions", failure(429, "Slow down", { "retry-after-ms": "10" }));
    upstream.reply("/chat/completions", json(completion({ content: "Hi" })));
    const message = await connect({ apiKey: admin.token, maxRetries: 1 }).messages.create(question);
    expect(message.content).toMatchObject([textPart("Hi")]);
  });

  it.each([
    ["says so", () => sse([...textChunks("Hello", { finish: null }), errorFrame("Out of memory")]), /memory/],
    [
      "is reset",
      () => resetAfter(700, sse(textChunks("one two three four five six"))),
      /closed the connection/,
    ],
  ])("an APIError when the upstream %s midway, behind what came", async (_what, script, text) => {
    upstream.reply("/chat/completions", script());
    const stream = sdk.messages.stream(question);
    const pieces: string[] = [];
    stream.on("text", (piece) => void pieces.push(piece));
    const error = await failed(stream.finalMessage());
    expect(error).toBeInstanceOf(APIError);
    expect([error.type, error.apiMessage]).toEqual(["api_error", expect.stringMatching(text)]);
    expect(pieces.length).toBeGreaterThan(0);
  });
});

it("tells the vendor's client with 502 that the upstream cannot count tokens", async () => {
  const { max_tokens: _limit, ...prompt } = question;
  const error = await failed(sdk.messages.countTokens(prompt));
  expect(error).toBeInstanceOf(InternalServerError);
  expect([error.status, error.type, error.apiMessage]).toEqual([
    502,
    "api_error",
    "The provider of this model cannot count tokens.",
  ]);
});
