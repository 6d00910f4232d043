import Anthropic from "@anthropic-ai/sdk";
import { type AbortableAsyncIterator, Ollama } from "ollama";
import { beforeEach, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { chat, chatLines, ending, line, type Runtime, startRuntime } from "#test/support/runtime.ts";
import { setUp } from "#test/support/set-up.ts";
import { resetAfter, stallAfter } from "#test/support/upstream-faults.ts";
import { json, jsonLines, sse } from "#test/support/upstream-scripts.ts";

let runtime: Runtime;
let app: App;
let admin: TestUser;
let member: TestUser;

setUp(async (keep) => {
  runtime = await keep(startRuntime(["llama3:latest", "tiny:1b"]));
  app = await keep(useApp({ env: { OLLAMA_BASE_URL: runtime.origin } }));
  admin = await app.admin();
  member = await app.user();
});

/** The runtime's published client, as this person. */
const connect = ({ token }: Pick<TestUser, "token">) =>
  new Ollama({ host: `${app.url}/runtime`, headers: { authorization: `Bearer ${token}` } });
const messages = [{ role: "user", content: "Hi" }];

async function collect<T extends object>(stream: AbortableAsyncIterator<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) {
    items.push(item);
  }
  return items;
}

const failed = (asked: Promise<unknown>) =>
  asked.then(
    () => expect.unreachable("this was answered"),
    (error: unknown) => error as Error & { status_code?: number },
  );

describe.each(["", "box"])("the runtime's client (prefix %j)", (prefix) => {
  const named = (id: string) => (prefix ? `${prefix}.${id}` : id);
  const model = named("llama3:latest");

  beforeEach(async () => {
    const config = { access: "everyone", ...(prefix && { prefix_id: prefix }) };
    const body = { OLLAMA_BASE_URLS: [runtime.origin], OLLAMA_API_CONFIGS: { 0: config } };
    expect((await admin.call("POST /runtime/config/update", body)).status).toBe(200);
  });

  it("lists and shows models, and tells the version", async () => {
    const client = connect(member);
    const { models } = await client.list();
    expect(models.map((each) => [each.name, each.model, each.details.family])).toEqual(
      ["llama3:latest", "tiny:1b"].map((id) => [named(id), named(id), "llama"]),
    );
    const details = { modelfile: "FROM llama3", capabilities: ["completion", "tools"] };
    runtime.reply("/api/show", json(details));
    expect(await client.show({ model })).toEqual(details);
    expect(runtime.last("/api/show").body).toEqual({ model: "llama3:latest" });
    expect(await client.version()).toEqual({ version: "0.12.3" });
  });

  it("chats, streamed and whole", async () => {
    const client = connect(member);
    runtime.reply("/api/chat", chat("Grüße an die 世界"));
    const whole = await client.chat({ model, messages });
    expect(whole).toEqual({ ...line({ content: "Grüße an die 世界" }, ending), model });
    runtime.reply("/api/chat", jsonLines(chatLines("Grüße an die 世界"), { split: "bytes" }));
    const lines = await collect(await client.chat({ model, messages, stream: true }));
    expect(lines.map((each) => each.message.content).join("")).toBe("Grüße an die 世界");
    expect([lines.at(-1)?.done, lines.at(-1)?.eval_count, new Set(lines.map((each) => each.model))]).toEqual([
      true,
      5,
      new Set([model]),
    ]);
  });

  it("goes through a loop of a tool, with thoughts ahead", async () => {
    const client = connect(member);
    const call = { function: { name: "weather", arguments: { city: "Łódź", days: 3 } } };
    runtime.reply(
      "/api/chat",
      jsonLines([
        line({ thinking: "I need " }),
        line({ thinking: "a tool." }),
        line({ tool_calls: [call] }),
        line({}, ending),
      ]),
    );
    const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
    const lines = await collect(await client.chat({ model, messages, tools, think: true, stream: true }));
    expect(lines.map((each) => each.message.thinking ?? "").join("")).toBe("I need a tool.");
    expect(lines.flatMap((each) => each.message.tool_calls ?? [])).toEqual([call]);
    expect(runtime.last("/api/chat").body).toMatchObject({ tools, think: true });

    const turns = [
      ...messages,
      { role: "assistant", content: "", thinking: "I need a tool.", tool_calls: [call] },
      { role: "tool", tool_name: "weather", content: "21 °C" },
    ];
    runtime.reply("/api/chat", chat("Sunny."));
    const { message } = await client.chat({ model, messages: turns, tools });
    expect(message.content).toBe("Sunny.");
    expect(runtime.last("/api/chat").body.messages).toEqual(turns);
  });

  it("generates and embeds", async () => {
    const client = connect(member);
    const piece = (response: string, more = {}) => ({
      model: "llama3:latest",
      response,
      done: false,
      ...more,
    });
    runtime.reply("/api/generate", jsonLines([piece("Hel"), piece("lo"), piece("", ending)]));
    const pieces = await collect(await client.generate({ model, prompt: "Say hello", stream: true }));
    expect(pieces.map((each) => each.response).join("")).toBe("Hello");
    expect(pieces.every((each) => each.model === model)).toBe(true);
    const embeddings = [
      [1, 2],
      [3, 4],
    ];
    runtime.reply("/api/embed", json({ model: "llama3:latest", embeddings }));
    expect(await client.embed({ model, input: ["a", "b"] })).toEqual({ model, embeddings });
    expect(runtime.last("/api/embed").body).toEqual({ model: "llama3:latest", input: ["a", "b"] });
  });

  it("stops the backend when it leaves in the middle", async () => {
    runtime.reply("/api/chat", stallAfter(400, jsonLines(chatLines("one two three four"))));
    const stream = await connect(member).chat({ model, messages, stream: true });
    const words: string[] = [];
    const error = await failed(
      (async () => {
        for await (const each of stream) {
          words.push(each.message.content);
          stream.abort();
        }
      })(),
    );
    expect(words[0]).toBe("one");
    expect(error.name).toBe("AbortError");
    const request = runtime.last("/api/chat");
    await request.aborted;
    expect(request.abortedAt).toBeDefined();
  });

  it("throws what went wrong, in its own words", async () => {
    const client = connect(member);
    const unknown = await failed(client.chat({ model: "none", messages }));
    expect([unknown.name, unknown.status_code, unknown.message]).toEqual([
      "ResponseError",
      404,
      "Model not found",
    ]);
    for (const stream of [true, false] as const) {
      runtime.reply("/api/chat", json({ error: "server busy" }, { status: 429 }));
      const busy = await failed(client.chat({ model, messages, stream: stream as true }));
      expect([busy.name, busy.status_code, busy.message]).toEqual(["ResponseError", 429, "server busy"]);
    }
    const stranger = await failed(connect({ token: "wrong" }).list());
    expect([stranger.name, stranger.status_code, stranger.message]).toEqual([
      "ResponseError",
      401,
      expect.not.stringContaining("Unauthorized"),
    ]);
  });

  it("throws when a stream fails midway, behind what came", async () => {
    const lines = chatLines("one two three four five six");
    for (const [script, text] of [
      [jsonLines([...lines.slice(0, 3), { error: "out of memory" }]), /^out of memory$/],
      [resetAfter(500, jsonLines(lines)), /closed the connection/],
    ] as const) {
      runtime.reply("/api/chat", script);
      const words: string[] = [];
      const error = await failed(
        (async () => {
          for await (const each of await connect(member).chat({ model, messages, stream: true })) {
            words.push(each.message.content);
          }
        })(),
      );
      expect(error.message).toMatch(text);
      expect(words.join("")).toMatch(/^one two/);
    }
  });

  it("manages models as an administrator", async () => {
    const client = connect(admin);
    const progress = [
      { status: "pulling manifest" },
      { status: "pulling a2af", digest: "sha256:a2af", total: 100, completed: 40 },
      { status: "pulling a2af", digest: "sha256:a2af", total: 100, completed: 100 },
      { status: "success" },
    ];
    const id = `pulled${prefix}:latest`;
    runtime.reply("/api/pull", async (exchange) => {
      runtime.held = [...runtime.held, id];
      await jsonLines(progress)(exchange);
    });
    expect(await collect(await client.pull({ model: named(id), stream: true }))).toEqual(progress);
    expect(runtime.last("/api/pull").body).toMatchObject({ model: id, stream: true });
    const listed = async () => (await client.list()).models.map((each) => each.model);
    await expect.poll(listed).toContain(named(id));
    runtime.reply("/api/pull", json({ status: "success" }));
    expect(await client.pull({ model: named(id) })).toEqual({ status: "success" });

    runtime.loaded = [{ name: id, model: id, size_vram: 5 }];
    expect((await client.ps()).models).toMatchObject([{ name: named(id), model: named(id), size_vram: 5 }]);

    runtime.reply("/api/delete", async (exchange) => {
      runtime.held = runtime.held.filter((each) => each !== id);
      await json({})(exchange);
    });
    expect(await client.delete({ model: named(id) })).toEqual({ status: "success" });
    expect(runtime.last("/api/delete")).toMatchObject({ method: "DELETE", body: { model: id } });
    expect(await listed()).not.toContain(named(id));
  });

  it("is told that managing is for administrators", async () => {
    const client = connect(member);
    for (const ask of [() => client.ps(), () => client.pull({ model }), () => client.delete({ model })]) {
      const error = await failed(ask());
      expect([error.name, error.status_code]).toEqual(["ResponseError", 403]);
      expect(error.message).not.toMatch(/^Error 403/);
    }
  });

  it("reads the vendor's format through the vendor's client, and what broke it off in the middle of a line", async () => {
    const sdk = new Anthropic({ baseURL: `${app.url}/runtime`, authToken: member.token, maxRetries: 0 });
    const event = (type: string, data: object = {}) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
    const text = (piece: string) => ({ index: 0, delta: { type: "text_delta", text: piece } });
    const message = { id: "msg_1", type: "message", role: "assistant", model: "llama3:latest", content: [] };
    const frames = [
      event("message_start", { message: { ...message, usage: { input_tokens: 7, output_tokens: 1 } } }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      event("content_block_delta", text("Grü")),
      event("content_block_delta", text("ße")),
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }),
      event("message_stop"),
    ];
    const ask = () =>
      sdk.messages
        .stream({ model, max_tokens: 9, messages: [{ role: "user", content: "Hi" }] })
        .finalMessage();
    runtime.reply("/v1/messages", sse(frames, { done: false, split: "bytes" }));
    expect(await ask()).toMatchObject({ model, content: [{ type: "text", text: "Grüße" }] });
    for (let cut = 250; cut < 600; cut += 29) {
      runtime.reply("/v1/messages", resetAfter(cut, sse(frames, { done: false })));
      const error = await failed(ask());
      expect([cut, error.name, error.message]).toEqual([
        cut,
        "APIError",
        expect.stringContaining("closed the connection"),
      ]);
    }
  });
});
