import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { chatLines, ending, line, type Runtime, startRuntime } from "#test/support/runtime.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { resetAfter, silence } from "#test/support/upstream-faults.ts";
import { body, json, jsonLines } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let runtime: Runtime;
let pictures: Upstream;
let app: App;
let admin: TestUser;
let sdk: OpenAI;

beforeAll(async () => {
  runtime = await startRuntime();
  pictures = await startUpstream();
  pictures.always("/a.png", body(Buffer.from([1, 2, 3]), { headers: { "content-type": "image/png" } }));
  app = await startApp({
    env: {
      RUNTIME_BASE_URLS: runtime.origin,
      RUNTIME_API_CONFIGS: '{"0": {"access": "everyone", "prefix_id": "box", "key": "runtime-key-1234"}}',
      ENABLE_FORWARD_USER_INFO_HEADERS: "true",
    },
  });
  admin = await app.admin();
  const member = await app.user();
  sdk = new OpenAI({ baseURL: `${app.url}/api`, apiKey: member.token, maxRetries: 0 });
});
afterAll(async () => {
  await app.close();
  await runtime.close();
  await pictures.close();
});
beforeEach(() => runtime.always("/api/chat", chatScript));

const chatScript: Script = (exchange) =>
  exchange.request.body.stream
    ? jsonLines(chatLines("Grüße an alle"))(exchange)
    : json(line({ content: "Grüße an alle" }, ending))(exchange);

const model = "box.llama3:latest";
const messages = [{ role: "user" as const, content: "Hi" }];
const sent = () => runtime.last("/api/chat");

describe("chat completions over the local runtime", () => {
  it("stream and answer whole for the common format's SDK", async () => {
    const streamed = await sdk.chat.completions
      .stream({ model, messages, seed: 1, max_tokens: 7 })
      .finalChatCompletion();
    expect(sent().body).toEqual({
      model: "llama3:latest",
      messages,
      stream: true,
      options: { seed: 1, num_predict: 7 },
    });
    expect(sent().headers).toMatchObject({
      authorization: "Bearer runtime-key-1234",
      "x-service-user-role": "user",
    });
    const whole = await sdk.chat.completions.create({ model, messages });
    expect(sent().body.stream).toBe(false);
    for (const { choices, model: named, usage } of [streamed, whole]) {
      expect([named, choices[0]?.message.content, choices[0]?.finish_reason]).toEqual([
        model,
        "Grüße an alle",
        "stop",
      ]);
      expect(usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
    }
  });

  it("come with usage in a chunk of its own when asked for", async () => {
    const stream = await sdk.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 15 } });
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("Grüße an alle");
  });

  it("carry tools both ways, and thoughts apart", async () => {
    runtime.reply(
      "/api/chat",
      jsonLines([
        line({ thinking: "The weather." }),
        line({ tool_calls: [{ function: { name: "weather", arguments: { city: "Bern" } } }] }),
        line({}, ending),
      ]),
    );
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const tools = [{ type: "function" as const, function: { name: "weather", parameters } }];
    const asked = await sdk.chat.completions.stream({ model, messages, tools }).finalChatCompletion();
    const [choice] = asked.choices;
    const [call] = choice?.message.tool_calls ?? [];
    expect([choice?.finish_reason, sent().body.tools]).toEqual(["tool_calls", tools]);
    expect(call).toMatchObject({ function: { name: "weather", arguments: '{"city":"Bern"}' } });
    await sdk.chat.completions.create({
      model,
      messages: [...messages, choice!.message, { role: "tool", tool_call_id: call!.id, content: "sunny" }],
    });
    expect(sent().body.messages.slice(1)).toEqual(
      [
        {
          role: "assistant",
          content: "",
          tool_calls: [
            expect.objectContaining({ function: { name: "weather", arguments: { city: "Bern" } } }),
          ],
        },
        { role: "tool", content: "sunny", tool_name: "weather", tool_call_id: call!.id },
      ].map((each) => expect.objectContaining(each)),
    );
  });

  it("join a stream that came although a whole answer was asked for", async () => {
    runtime.reply("/api/chat", jsonLines(chatLines("all of it")));
    const whole = await sdk.chat.completions.create({ model, messages });
    expect(whole.choices[0]?.message.content).toBe("all of it");
    expect(whole.usage?.total_tokens).toBe(15);
  });

  it("hand refusals on and end broken streams with an error", async () => {
    runtime.reply("/api/chat", json({ error: "busy" }, { status: 429, headers: { "retry-after": "3" } }));
    const refused = await admin.call("POST /api/chat/completions", { model, messages });
    expect([refused.status, refused.headers.get("retry-after"), refused.body]).toEqual([
      429,
      "3",
      { error: "busy" },
    ]);
    for (const script of [
      jsonLines([line({ content: "Hi" }), { error: "out of memory" }]),
      jsonLines([line({ content: "Hi" })]),
      resetAfter(300, jsonLines(chatLines("one two three four five"))),
    ]) {
      runtime.reply("/api/chat", script);
      const stream = await sdk.chat.completions.create({ model, messages, stream: true });
      await expect(Array.fromAsync(stream)).rejects.toThrow();
    }
  });

  it("abort the backend when the client leaves (O36)", async () => {
    runtime.reply("/api/chat", silence());
    const leave = new AbortController();
    const asked = sdk.chat.completions
      .create({ model, messages }, { signal: leave.signal })
      .catch(() => "left");
    const request = await runtime.nextRequest(
      (each) => each.path === "/api/chat" && each.answeredAt === undefined,
    );
    leave.abort();
    expect(await asked).toBe("left");
    await request.aborted;
  });

  it("take images in the message, and from elsewhere only where that is allowed (S73)", async () => {
    const withImage = (url: string) => ({
      model,
      messages: [{ role: "user" as const, content: [{ type: "image_url" as const, image_url: { url } }] }],
    });
    await sdk.chat.completions.create(withImage("data:image/png;base64,AQID"));
    expect(sent().body.messages).toEqual([{ role: "user", content: "", images: ["AQID"] }]);
    const before = runtime.requests.length;
    for (const url of [
      `${pictures.origin}/a.png`,
      "http://169.254.169.254/a.png",
      "file:///etc/passwd",
      "data:text/html;base64,AQID",
    ]) {
      await expect(sdk.chat.completions.create(withImage(url))).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining("messages.0.content.0.image_url"),
      });
    }
    expect([runtime.requests.length, pictures.requests.length]).toEqual([before, 0]);
  });

  it("embed in the common format (O59)", async () => {
    runtime.always("/api/embed", json({ embeddings: [[1, -2.5]], prompt_eval_count: 3 }));
    const { data, usage, model: named } = await sdk.embeddings.create({ model, input: ["a"] });
    expect([data[0]?.embedding, usage, named]).toEqual([
      [1, -2.5],
      { prompt_tokens: 3, total_tokens: 3 },
      model,
    ]);
    expect(runtime.last("/api/embed").body).toEqual({ model: "llama3:latest", input: ["a"] });
  });

  it("free memory on request", async () => {
    runtime.always("/api/generate", json({ done: true, done_reason: "unload" }));
    expect((await admin.call("POST /api/models/unload", { model })).body).toEqual({ status: true });
    expect(runtime.last("/api/generate").body).toEqual({
      model: "llama3:latest",
      prompt: "",
      keep_alive: 0,
      stream: false,
    });
  });
});

it("stands in the platform's list of models", async () => {
  runtime.loaded = [{ name: "llama3:latest", model: "llama3:latest", expires_at: "2026-01-01T00:00:00Z" }];
  await admin.call("GET /api/models?refresh=true");
  const { body: list } = await admin.call("GET /api/models");
  expect(list.data.find((item: { id: string }) => item.id === model)).toMatchObject({
    owned_by: "ollama",
    connection_type: "local",
    urls: [0],
    loaded: true,
    ollama: { digest: expect.any(String) },
    tags: [],
  });
});

it("serves a published server of the runtime's format", async () => {
  const peer = new LLMock({ port: 0 });
  peer.onMessage("hello", { content: "Hi there, how are you?" });
  peer.onMessage("weather", { toolCalls: [{ name: "get_weather", arguments: '{"city":"Bern"}' }] });
  await peer.start();
  const set = (urls: string[], configs: object) =>
    admin.call("POST /runtime/config/update", { OLLAMA_BASE_URLS: urls, OLLAMA_API_CONFIGS: configs });
  await set([peer.url], { 0: { access: "everyone" } });
  const { body: list } = await admin.call("GET /runtime/api/tags");
  const [first] = list.models;
  const ask = (content: string) => ({ model: first.model, messages: [{ role: "user" as const, content }] });
  const streamed = await sdk.chat.completions.stream(ask("hello")).finalChatCompletion();
  const whole = await sdk.chat.completions.create(ask("hello"));
  for (const { choices } of [streamed, whole]) {
    expect(choices[0]?.message.content).toBe("Hi there, how are you?");
  }
  const called = await sdk.chat.completions.stream(ask("weather")).finalChatCompletion();
  expect(called.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    function: { name: "get_weather", arguments: '{"city":"Bern"}' },
  });
  await peer.stop();
});
