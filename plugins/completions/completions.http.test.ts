import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import OpenAI, { APIError, AuthenticationError, NotFoundError, RateLimitError } from "openai";
import { describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { chunk, textChunks } from "#test/support/upstream-chunks.ts";
import { closeAfter, html, resetAfter } from "#test/support/upstream-faults.ts";
import { embeddings, errorFrame, rateLimited, sse, text, tokens } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { outlets, probes } from "./reply/probes.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;
let sdk: OpenAI;

setUp(async (keep) => {
  upstream = await keep(startUpstream());
  upstream.models = ["alpha", "beta"];
  app = await keep(
    startApp({
      plugins: [probes],
      env: {
        OPENAI_API_BASE_URLS: upstream.url,
        OPENAI_API_KEYS: "upstream-key",
        AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: "2",
      },
    }),
  );
  admin = await app.admin();
  sdk = new OpenAI({ baseURL: `${app.url}/api`, apiKey: admin.token, maxRetries: 0 });
});

const messages = [{ role: "user" as const, content: "Hi" }];
const complete = (body: object, token = admin.token) =>
  app.call("POST /api/chat/completions", { token, body: { model: "alpha", messages, ...body } });

describe("with the published SDKs", () => {
  it("lists models", async () => {
    const ids = (await sdk.models.list()).data.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["guide", "alpha", "beta"]));
  });

  it("streams text, tools stay with the caller, and the run ends with a finish reason", async () => {
    upstream.reply("/chat/completions", text("Hello there"));
    const runner = sdk.chat.completions.stream({ model: "alpha", messages });
    expect((await runner.finalChatCompletion()).choices[0]?.message.content).toBe("Hello there");
  });

  it("answers whole", async () => {
    upstream.reply("/chat/completions", text("Hello"));
    const answer = await sdk.chat.completions.create({ model: "alpha", messages });
    expect(answer.choices[0]?.message.content).toBe("Hello");
    expect(answer.usage?.total_tokens).toBe(15);
  });

  it("raises typed errors for what the provider refuses, with its retry headers", async () => {
    upstream.reply("/chat/completions", rateLimited({ seconds: 9, message: "Slow down" }));
    const failure = await sdk.chat.completions
      .create({ model: "alpha", messages })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RateLimitError);
    expect(failure).toMatchObject({ status: 429, message: expect.stringContaining("Slow down") });
    const { headers } = failure as { headers: Headers };
    expect([headers.get("retry-after"), headers.get("retry-after-ms")]).toEqual(["9", "9000"]);
  });

  it("raises typed errors for unknown models and bad credentials", async () => {
    await expect(sdk.chat.completions.create({ model: "nope", messages })).rejects.toBeInstanceOf(
      NotFoundError,
    );
    const stranger = new OpenAI({ baseURL: `${app.url}/api`, apiKey: "sk-wrong", maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toBeInstanceOf(AuthenticationError);
  });

  it("embeds", async () => {
    upstream.reply("/embeddings", embeddings(4));
    const answer = await sdk.embeddings.create({
      model: "alpha",
      input: ["a", "b"],
      encoding_format: "float",
    });
    expect(answer.data.map(({ embedding }) => embedding.length)).toEqual([4, 4]);
  });

  it("streams through the ai package's provider for compatible servers", async () => {
    upstream.reply("/chat/completions", text("One two three"));
    const provider = createOpenAICompatible({
      name: "millrace",
      baseURL: `${app.url}/api`,
      apiKey: admin.token,
    });
    const result = streamText({ model: provider("beta"), prompt: "Count" });
    expect(await result.text).toBe("One two three");
  });
});

describe("the way to the provider", () => {
  it("keeps parameters, tools and unknown keys verbatim, and takes out what is for the platform", async () => {
    upstream.reply("/chat/completions", text("ok"));
    const seen = upstream.nextRequest(({ body }) => body?.seed === 11);
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    await complete({
      seed: 11,
      tools,
      tool_choice: "none",
      x_custom: { deep: [1, 2] },
      filter_ids: [],
      session_id: "s",
      variables: {},
    });
    expect((await seen).body).toEqual({
      model: "alpha",
      messages,
      seed: 11,
      tools,
      tool_choice: "none",
      x_custom: { deep: [1, 2] },
    });
    expect((await seen).headers.authorization).toBe("Bearer upstream-key");
  });

  it("relays a stream byte for byte", async () => {
    const frames =
      'data: {"choices":[{"index":0,"delta":{"content":"ä"}}],  "odd" : 1}\n\n: comment\n\ndata: [DONE]\n\n';
    upstream.reply("/chat/completions", async (exchange) => {
      await exchange.start(200, {
        "content-type": "text/event-stream",
        "content-length": String(Buffer.byteLength(frames)),
      });
      await exchange.write(frames);
    });
    expect((await complete({ stream: true })).text).toBe(frames);
  });

  it("fills template variables of system prompts", async () => {
    upstream.reply("/chat/completions", text("ok"));
    const seen = upstream.nextRequest(({ body }) => body?.seed === 12);
    const system = { role: "system", content: "You help {{USER_NAME}} ({{USER_LANGUAGE}}) {{NOT_KNOWN}}" };
    await complete({ seed: 12, messages: [system, ...messages], variables: { "{{USER_LANGUAGE}}": "fr" } });
    expect((await seen).body.messages[0].content).toBe(`You help ${admin.name} (fr) {{NOT_KNOWN}}`);
  });

  it("aborts the upstream within a second when the client leaves", async () => {
    upstream.reply("/chat/completions", tokens(1000, 20));
    const seen = upstream.nextRequest(({ body }) => body?.seed === 13);
    const leaving = new AbortController();
    const answer = await fetch(`${app.url}/api/chat/completions`, {
      method: "POST",
      signal: leaving.signal,
      headers: { authorization: `Bearer ${admin.token}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "alpha", messages, stream: true, seed: 13 }),
    });
    await answer.body?.getReader().read();
    const left = performance.now();
    leaving.abort();
    expect((await (await seen).aborted) - left).toBeLessThan(1000);
  });
});

describe("filters", () => {
  it("change, join and drop chunks, and see the finished conversation", async () => {
    upstream.reply("/chat/completions", sse([...textChunks(["a", "drop", "b"])]));
    outlets.length = 0;
    const stream = sdk.chat.completions.stream({
      model: "alpha",
      messages,
      filter_ids: ["mark", "keep"],
    } as never);
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe("<a><b>");
    await expect.poll(() => outlets.length).toBe(1);
    expect(outlets[0]).toMatchObject({
      metadata: { note: "from inlet" },
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "<a><b>" },
      ],
    });
  });

  it("see the conversation of an unfiltered stream too, without touching its bytes", async () => {
    upstream.reply("/chat/completions", text("plain"));
    outlets.length = 0;
    await complete({ stream: true, filter_ids: ["keep"] });
    await expect.poll(() => outlets.length).toBe(1);
    expect(outlets[0]?.messages.at(-1)).toMatchObject({ role: "assistant", content: "plain" });
  });

  it("refuse a request with their own words", async () => {
    const answer = await complete({ filter_ids: ["refuse"] });
    expect([answer.status, answer.body.detail]).toEqual([400, "This question is not allowed."]);
  });

  it("run on demand for a finished conversation", async () => {
    const answer = await admin.call("POST /api/chat/completed", {
      model: "alpha",
      messages: [{ id: "1", role: "user", content: "x" }],
      filter_ids: ["keep"],
      extra: 1,
    });
    expect(answer.body).toMatchObject({
      model: "alpha",
      extra: 1,
      messages: [{ id: "1", role: "user", content: "filtered" }],
    });
  });

  it("run on demand for one's own chats only", async () => {
    const body = { model: "alpha", messages, filter_ids: ["keep"] };
    const run = (chat_id: string) => admin.call("POST /api/chat/completed", { ...body, chat_id });
    const member = await app.user();
    const chat = { title: "Theirs", models: [] };
    const made = await member.call("POST /api/v1/chats/new", { chat });
    outlets.length = 0;
    const [foreign, unknown] = [await run(made.body.id), await run("3f0c")];
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    expect(outlets).toEqual([]);
    expect((await run("temporary:1")).status).toBe(200);
  });
});

describe("bad requests and bad upstreams", () => {
  it.each([
    ["a missing model", { model: undefined }, 400],
    ["messages that are no list", { messages: "x" }, 400],
    ["a stream flag that is no boolean", { stream: "yes" }, 400],
    ["an unknown chat", { chat_id: "3f0c" }, 404],
  ])("%s", async (_name, body, status) => {
    const answer = await complete(body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({
      detail: expect.anything(),
      error: { message: expect.any(String), code: status },
    });
  });

  it("hides models without a record from users, exactly like unknown ones", async () => {
    const user = await app.user();
    const [hidden, unknown] = await Promise.all([
      complete({}, user.token),
      complete({ model: "no-such-model" }, user.token),
    ]);
    expect([hidden.status, hidden.text]).toEqual([404, unknown.text]);
    expect((await complete({ model: "guide" }, user.token)).status).toBe(200);
  });

  it("tells of an upstream that answers HTML", async () => {
    upstream.reply("/chat/completions", html());
    const answer = await complete({ stream: true });
    expect([answer.status, answer.text.includes("<html")]).toEqual([502, false]);
  });

  it("ends a broken stream with an error frame after the text that came", async () => {
    upstream.reply("/chat/completions", resetAfter(400, tokens(50, 5)));
    const answer = await complete({ stream: true });
    expect(answer.text).toContain("t0 ");
    expect(answer.text.trimEnd().split("\n").at(-1)).toMatch(/^data: \{"error":\{"message":/);
    upstream.reply("/chat/completions", closeAfter(400, tokens(50, 5)));
    await expect(
      sdk.chat.completions
        .stream({ model: "alpha", messages, filter_ids: ["mark"] } as never)
        .finalChatCompletion(),
    ).rejects.toThrow();
  });

  it("tells the client why, wherever the upstream breaks off: no half of an event is passed on", async () => {
    for (let cut = 250; cut < 900; cut += 37) {
      upstream.reply("/chat/completions", resetAfter(cut, tokens(50, 5)));
      const error: unknown = await sdk.chat.completions
        .stream({ model: "alpha", messages })
        .finalChatCompletion()
        .catch((reason: unknown) => reason);
      expect([cut, error]).toEqual([cut, expect.any(APIError)]);
      expect((error as APIError).message).toContain("closed the connection");
    }
  });

  it("passes an error frame midway on", async () => {
    upstream.reply("/chat/completions", sse([chunk({ content: "a" }), errorFrame("overloaded", 529)]));
    await expect(
      sdk.chat.completions.stream({ model: "alpha", messages }).finalChatCompletion(),
    ).rejects.toThrow(/overloaded/);
  });
});
