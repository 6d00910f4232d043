import OpenAI from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";
import { setUp } from "#test/support/set-up.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { embeddings, failure, json, raw, sse, text } from "#test/support/upstream-scripts.ts";

let runtime: Runtime;
let app: App;
let admin: TestUser;
let member: TestUser;

setUp(async (keep) => {
  runtime = await keep(startRuntime());
  app = await keep(useApp({ env: { OLLAMA_BASE_URL: runtime.origin } }));
  admin = await app.admin();
  member = await app.user();
});
beforeEach(() => configure({}));

async function configure(config: Record<string, unknown>) {
  await admin.call("POST /runtime/config/update", {
    OLLAMA_BASE_URLS: [runtime.origin],
    OLLAMA_API_CONFIGS: { 0: { access: "everyone", ...config } },
  });
}

const call = (path: string, body: unknown) => member.call(`POST /runtime/v1/${path}`, body);
const sdk = () => new OpenAI({ baseURL: `${app.url}/runtime/v1`, apiKey: member.token, maxRetries: 0 });
const model = "llama3:latest";
const messages = [{ role: "user" as const, content: "Hi" }];

describe("the common formats of the runtime", () => {
  it.each(["", "box"])("chat with the common format's SDK (prefix %j)", async (prefix) => {
    await configure({ prefix_id: prefix });
    const id = prefix ? `${prefix}.${model}` : model;
    runtime.always("/v1/chat/completions", text("Grüße an alle"));
    const whole = await sdk().chat.completions.create({ model: id, messages });
    const streamed = await sdk().chat.completions.stream({ model: id, messages }).finalChatCompletion();
    for (const each of [whole, streamed]) {
      expect([each.model, each.choices[0]?.message.content]).toEqual([id, "Grüße an alle"]);
    }
    expect(runtime.last("/v1/chat/completions").body.model).toBe(model);
    const { data } = await sdk().models.list();
    expect(data.map((each) => each.id)).toEqual([id]);
  });

  it("pass bytes on in both directions where nothing has to change", async () => {
    const frames = textChunks("Hello there", { model });
    runtime.reply("/v1/completions", sse(frames));
    const body = `{"model": "llama3:latest", "prompt": "Hi",  "stream": true}`;
    const answer = await call("completions/0", body);
    expect(answer.text).toBe(
      `${frames.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("")}data: [DONE]\n\n`,
    );
    expect(runtime.last("/v1/completions").bytes.toString()).toBe(body);
  });

  it("hand the vendor's format through, with the public id where there is a prefix", async () => {
    await configure({ prefix_id: "box" });
    const start = { type: "message_start", message: { id: "msg_1", model, content: [] } };
    const events = `event: message_start\ndata: ${JSON.stringify(start)}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n`;
    runtime.reply(
      "/v1/messages",
      raw(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${events.length}\r\n\r\n${events}`,
      ),
    );
    const ask = { model: `box.${model}`, messages, max_tokens: 5 };
    const answer = await app.call("POST /runtime/v1/messages", {
      headers: { "x-api-key": member.token },
      body: { ...ask, stream: true },
    });
    expect(answer.text).toBe(events.replace(model, `box.${model}`));
    runtime.reply("/v1/messages", failure(429, "slow down"));
    const refused = await call("messages", ask);
    expect([refused.status, refused.body]).toMatchObject([
      429,
      { type: "error", error: { message: "slow down" } },
    ]);
  });

  it("put a saved prompt ahead of the caller's in the vendor's format", async () => {
    const record = {
      id: "brief",
      base_model_id: model,
      name: "Brief",
      meta: {},
      params: { system: "Be brief." },
      access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }],
    };
    await admin.call("POST /api/v1/models/create", record);
    const prompt = { type: "text", text: "Be brief." };
    for (const [system, expected] of [
      [undefined, [prompt]],
      ["In French.", [prompt, { type: "text", text: "In French." }]],
      [[{ type: "text", text: "S" }], [prompt, { type: "text", text: "S" }]],
    ] as const) {
      runtime.reply("/v1/messages", json({ type: "message", model, content: [] }));
      expect((await call("messages", { model: "brief", messages, max_tokens: 5, system })).status).toBe(200);
      expect(runtime.last("/v1/messages").body).toMatchObject({ model, system: expected });
    }
    const refused = await call("messages", { model: "brief", messages, max_tokens: 5, system: {} });
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining("system")]);
  });

  it("end a stream that broke off with an error frame", async () => {
    runtime.reply("/v1/chat/completions", resetAfter(500, sse(textChunks("one two three four five"))));
    const stream = await sdk().chat.completions.create({ model, messages, stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow();
  });

  it("refuse in the common shape, or in the vendor's, whatever is wrong with the path", async () => {
    for (const path of ["embeddings/%", "completions/%ff", "nothing", "chat/nothing/%"]) {
      const refused = await call(path, { model, input: "a" });
      expect([path, typeof refused.body.error.message]).toEqual([path, "string"]);
    }
    expect((await call("messages/%", {})).body).toMatchObject({
      type: "error",
      error: { message: expect.any(String) },
    });
    const wrongMethod = await member.call("DELETE /runtime/v1/embeddings");
    expect([wrongMethod.status, wrongMethod.body.error.code]).toEqual([405, 405]);
    expect((await member.call("GET /runtime/nothing")).body).toEqual({
      error: "Not found",
    });
    const answer = await call("chat/completions", { model: "nobody", messages });
    expect([answer.status, answer.body.error.code]).toEqual([404, 404]);
    expect((await call("chat/completions", { model })).status).toBe(400);
    expect((await call("embeddings/7", { model, input: "a" })).status).toBe(404);
  });
});

describe("embeddings (O59)", () => {
  it("come in numbers or packed, whatever the backend knows", async () => {
    runtime.always("/v1/embeddings", embeddings(4));
    const plain = await call("embeddings", { model, input: ["a", "b"] });
    expect(plain.body).toMatchObject({
      object: "list",
      data: [{ index: 0 }, { index: 1 }],
      usage: { prompt_tokens: 2, total_tokens: 2 },
    });
    const packed = await call("embeddings", { model, input: ["a", "b"], encoding_format: "base64" });
    runtime.reply("/v1/embeddings", json(plain.body));
    const repacked = await call("embeddings/0", { model, input: ["a", "b"], encoding_format: "base64" });
    expect(repacked.body.data).toEqual(packed.body.data);
    const floats = new Float32Array(
      Uint8Array.from(Buffer.from(packed.body.data[1].embedding, "base64")).buffer,
    );
    expect([...floats]).toEqual(plain.body.data[1].embedding.map(Math.fround));
    const { data } = await sdk().embeddings.create({ model, input: "a" });
    expect(data[0]?.embedding).toHaveLength(4);
  });
});
