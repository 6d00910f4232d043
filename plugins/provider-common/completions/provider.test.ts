import { setImmediate as immediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { completion, defaultUsage, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { body, embeddings, json, sse, text } from "#test/support/upstream-scripts.ts";
import { caller, openProvider, readText, type Setup } from "../testing.ts";

let upstream: Upstream;
let opened: ReturnType<typeof openProvider>[] = [];

beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  await Promise.all(opened.map((each) => each.close()));
  opened = [];
  await upstream.close();
});

function open(setup: Partial<Setup> = {}) {
  const made = openProvider({ urls: [upstream.url], keys: ["sk-secret-123456"], ...setup });
  opened.push(made);
  return made;
}

/** The journal line of the last chat completion. */
const sent = () => upstream.requests.findLast((request) => request.path.includes("/chat/completions"))!;

const model = "mock-model";

describe("what the upstream is sent", () => {
  beforeEach(() => upstream.always("/chat/completions", text("Hello")));

  it("gets everything that is not the platform's own, as the caller sent it", async () => {
    const plain = {
      temperature: 0.5,
      top_p: 1,
      seed: 3,
      stop: ["a"],
      tools: [],
      tool_choice: "none",
      parallel_tool_calls: false,
      some_new_key: { deep: [1] },
      response_format: { type: "json_object" },
      options: { num_ctx: 1 },
      stream_options: { include_usage: true },
    };
    const platform = {
      chat_id: "c",
      id: "m",
      session_id: "s",
      files: [],
      features: {},
      variables: {},
      params: {},
      metadata: { a: 1 },
    };
    await open().ask({ model, ...plain, ...platform });
    expect(sent().body).toEqual({ model, messages: [{ role: "user", content: "Hi" }], ...plain });
    expect(sent().headers["authorization"]).toBe("Bearer sk-secret-123456");
    expect(sent().headers["accept-encoding"]).toBe("identity");
  });

  it("gets its own model id; replies carry the public one", async () => {
    const made = open({ configs: { 0: { prefix_id: "acme" } } });
    const whole = await made.ask({ model: "acme.mock-model" });
    expect(sent().body.model).toBe("mock-model");
    expect(whole).toMatchObject({ kind: "whole", completion: { model: "acme.mock-model" } });
    expect(whole).not.toHaveProperty("text");
    const streamed = await made.ask({ model: "acme.mock-model", stream: true });
    expect(streamed).toMatchObject({ stream: { raw: undefined } });
    expect(await readText(streamed)).toEqual({
      text: "Hello",
      error: undefined,
      models: new Set(["acme.mock-model"]),
    });
  });

  it.each([
    ["o3-mini", { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ["gpt-5", { max_tokens: 5, max_completion_tokens: 7 }, { max_completion_tokens: 7 }],
    ["llama", { max_tokens: 5 }, { max_tokens: 5 }],
    ["llama", { max_completion_tokens: 7 }, { max_tokens: 7 }],
    ["llama", { logit_bias: "50256:-100, 7:200" }, { logit_bias: { 50256: -100, 7: 100 } }],
    ["llama", { logit_bias: '{"1":2}' }, { logit_bias: { 1: 2 } }],
  ])("adapts to %s: %j", async (id, request, expected) => {
    upstream.models = [id];
    await open().ask({ model: id, ...request });
    const { model: _model, messages: _messages, ...rest } = sent().body;
    expect(rest).toEqual(expected);
  });

  it("gets the developer role where a reasoning model wants it", async () => {
    upstream.models = ["gpt-5", "o1-preview", "llama"];
    const made = open();
    const messages = [
      { role: "system", content: "S" },
      { role: "user", content: "U" },
    ];
    const roles: string[] = [];
    for (const id of upstream.models as string[]) {
      await made.ask({ model: id, messages });
      roles.push(sent().body.messages[0].role);
    }
    expect(roles).toEqual(["developer", "user", "system"]);
  });

  it("is asked nothing when logit_bias makes no sense", async () => {
    await expect(open().ask({ model, logit_bias: "x" })).rejects.toMatchObject({ code: "invalid" });
    expect(sent()).toBeUndefined();
  });

  it("gets the connection's extra parameters where the caller left them out", async () => {
    await open({ configs: { 0: { extra_params: { top_k: 3, seed: 1 } } } }).ask({ model, seed: 9 });
    expect(sent().body).toMatchObject({ top_k: 3, seed: 9 });
  });

  it("takes Azure's address and header", async () => {
    const urls = [`${upstream.origin}/`];
    const made = open({
      urls,
      configs: { 0: { azure: true, api_version: "2024-10-21", model_ids: ["gpt 4"] } },
    });
    await made.ask({ model: "gpt 4" });
    expect(sent().path).toBe("/openai/deployments/gpt%204/chat/completions?api-version=2024-10-21");
    expect(sent().headers).toMatchObject({ "api-key": "sk-secret-123456" });
    expect(sent().headers["authorization"]).toBeUndefined();
  });
});

describe("answers", () => {
  it("are handed on as bytes when nothing has to change", async () => {
    upstream.always("/chat/completions", text("Hello", { usage: defaultUsage }));
    const streamed = await open().ask({ model, stream: true });
    const raw = streamed.kind === "stream" ? streamed.stream.raw! : undefined;
    const bytes = Buffer.concat(await raw!.body.toArray()).toString();
    expect(bytes).toMatch(/^data: \{.*\n\ndata: \[DONE\]\n\n$/s);
    const whole = await open().ask({ model });
    expect(whole.kind === "whole" && JSON.parse(whole.text!)).toEqual(
      whole.kind === "whole" && whole.completion,
    );
  });

  it("survive bytes that come one by one", async () => {
    upstream.always("/chat/completions", oneByOne(sse(textChunks("Grüße an 世界 🌍"))));
    expect(await readText(await open().ask({ model, stream: true }))).toMatchObject({
      text: "Grüße an 世界 🌍",
      error: undefined,
    });
  });

  it("are streamed when they came whole although a stream was asked for, and the other way round", async () => {
    upstream.reply(json(completion("Hello", { model })));
    const streamed = await open().ask({ model, stream: true });
    expect(streamed.kind).toBe("stream");
    expect((await readText(streamed)).text).toBe("Hello");
    const calls = [
      { id: "a", name: "f", arguments: '{"x":1}' },
      { id: "b", name: "g", arguments: "{}" },
    ];
    upstream.reply(sse(toolCallChunks(calls, { usage: defaultUsage })));
    const whole = await open().ask({ model });
    expect(whole).toMatchObject({
      kind: "whole",
      completion: {
        object: "chat.completion",
        usage: defaultUsage,
        choices: [
          {
            finish_reason: "tool_calls",
            message: {
              tool_calls: calls.map((call) => ({
                id: call.id,
                function: { name: call.name, arguments: call.arguments },
              })),
            },
          },
        ],
      },
    });
  });

  it("are unpacked when they come compressed although that was not asked for", async () => {
    const packed = gzipSync(JSON.stringify(completion("Hello")));
    upstream.reply(
      body(packed, { headers: { "content-type": "application/json", "content-encoding": "gzip" } }),
    );
    expect((await readText(await open().ask({ model }))).text).toBe("Hello");
  });

  it("embed", async () => {
    upstream.always("/embeddings", embeddings(4));
    const { provider, ask } = open({ configs: { 0: { prefix_id: "p" } } });
    upstream.always("/chat/completions", text("x"));
    await ask({ model: "p.mock-model" });
    const [offered] = await provider.models();
    const answer = await provider.embed({
      request: { model: "p.mock-model", input: ["a", "b"] },
      model: offered!,
      principal: caller,
      signal: new AbortController().signal,
    });
    const value = JSON.parse(Buffer.concat(await answer.body.toArray()).toString());
    expect(value).toMatchObject({
      object: "list",
      model: "p.mock-model",
      data: [{ index: 0 }, { index: 1 }],
    });
  });
});

/** Writes the body of `script` byte by byte; the turn of the loop keeps the bytes from being read together. */
function oneByOne(script: Script): Script {
  return (exchange) =>
    script({
      ...exchange,
      async write(data) {
        for (const byte of Buffer.from(data as string)) {
          await exchange.write(Buffer.of(byte));
          await immediate();
        }
      },
    });
}
