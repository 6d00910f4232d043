import OpenAI from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { html, resetAfter, silence } from "#test/support/upstream-faults.ts";
import { embeddings, errorFrame, json, rateLimited, sse, text } from "#test/support/upstream-scripts.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;
let member: TestUser;

setUp(async (keep) => {
  upstream = await keep(startUpstream());
  upstream.models = ["mock-model", "other"];
  app = await keep(
    startApp({
      env: {
        OPENAI_API_BASE_URL: upstream.url,
        OPENAI_API_KEY: "sk-upstream-key-9876",
        ENABLE_OPENAI_API_PASSTHROUGH: "true",
      },
    }),
  );
  admin = await app.admin();
  member = await app.user();
});
beforeEach(async () => {
  await configure({});
});

const model = "mock-model";
const messages = [{ role: "user" as const, content: "Hi" }];

/** Sets the one connection's settings, as an admin does. */
async function configure(config: Record<string, unknown>, urls = [upstream.url]) {
  const answer = await admin.call("POST /compat/config/update", {
    ENABLE_OPENAI_API: true,
    OPENAI_API_BASE_URLS: urls,
    OPENAI_API_KEYS: urls.map(() => "sk-upstream-key-9876"),
    OPENAI_API_CONFIGS: { 0: { access: "everyone", ...config } },
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

function client(user: TestUser) {
  return new OpenAI({ baseURL: `${app.url}/compat`, apiKey: user.token, maxRetries: 0 });
}

const sent = () => upstream.requests.findLast((request) => request.method !== "GET")!;

describe("the models of the compat surface", () => {
  it("are those the caller may use", async () => {
    expect((await member.call("GET /compat/models")).body).toMatchObject({
      object: "list",
      data: [{ id: "mock-model", object: "model", owned_by: "openai", urlIdx: 0 }, { id: "other" }],
    });
    await configure({ access: "admins" });
    expect((await member.call("GET /compat/models")).body.data).toEqual([]);
    expect((await admin.call("GET /compat/models/0")).body.data).toHaveLength(2);
    expect((await admin.call("GET /compat/models/7")).status).toBe(404);
    expect((await app.call("GET /compat/models", {})).status).toBe(401);
  });

  it("stand in the platform's own list with their prefix", async () => {
    await configure({ prefix_id: "acme", tags: [{ name: "t" }] });
    const { body } = await member.call("GET /api/models");
    expect(body.data.map((item: { id: string }) => item.id)).toEqual(
      expect.arrayContaining(["acme.mock-model", "acme.other"]),
    );
  });
});

describe("chat completions of the compat surface", () => {
  it("pass bytes on in both directions", async () => {
    const frames = sse(textChunks("Hello there"));
    upstream.reply("/chat/completions", frames);
    const body = `{"model": "mock-model",  "messages": [{"role":"user","content":"Hi"}], "stream": true, "n": 1.0}`;
    const answer = await member.call("POST /compat/chat/completions", body);
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    const expected = textChunks("Hello there").map((each) => `data: ${JSON.stringify(each)}\n\n`);
    expect(answer.text).toBe(`${expected.join("")}data: [DONE]\n\n`);
    expect(sent().bytes.toString()).toBe(body);
    expect(sent().headers["authorization"]).toBe("Bearer sk-upstream-key-9876");
  });

  it("serve the common format's SDK, streamed and whole, with a prefix", async () => {
    await configure({ prefix_id: "acme" });
    upstream.always("/chat/completions", text("Hello there"));
    const ask = { model: "acme.mock-model", messages };
    const whole = await client(member).chat.completions.create(ask);
    expect(whole).toMatchObject({
      model: "acme.mock-model",
      choices: [{ message: { content: "Hello there" } }],
    });
    const chunks = await Array.fromAsync(
      await client(member).chat.completions.create({ ...ask, stream: true }),
    );
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("Hello there");
    expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set(["acme.mock-model"]));
    expect(sent().body.model).toBe("mock-model");
  });

  it("tell the upstream the names of the caller's groups where a header asks for them", async () => {
    const group = await admin.call("POST /api/v1/groups/create", { name: "Équipe", description: "" });
    await admin.call(`POST /api/v1/groups/id/${group.body.id}/users/add`, { user_ids: [member.id] });
    await configure({ headers: { "X-Groups": "[{{USER_GROUPS}}]" } });
    upstream.always("/chat/completions", text("ok"));
    await member.call("POST /compat/chat/completions", { model, messages });
    expect(sent().headers["x-groups"]).toBe("[%C3%89quipe]");
  });

  it("hold access: unknown and forbidden models answer alike", async () => {
    await configure({ access: "admins" });
    const before = upstream.requests.length;
    const answers = await Promise.all(
      ["mock-model", "no-such-model"].map((id) =>
        member.call("POST /compat/chat/completions", { model: id, messages }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual([404, 404]);
    expect(answers[0]!.body).toEqual(answers[1]!.body);
    expect(answers[0]!.body.error).toMatchObject({ message: "Model not found", code: 404 });
    expect(upstream.requests.length).toBe(before);
  });

  it("hand a refusal on with its status, body and retry headers", async () => {
    upstream.reply("/chat/completions", rateLimited({ seconds: 3 }));
    const answer = await member.call("POST /compat/chat/completions", { model, messages });
    expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("retry-after-ms")]).toEqual([
      429,
      "3",
      "3000",
    ]);
    expect(answer.body.error.type).toBe("mock_error");
  });

  it("answer 502 for a page, 400 for a body of another shape", async () => {
    upstream.reply("/chat/completions", html());
    expect((await member.call("POST /compat/chat/completions", { model, messages })).status).toBe(502);
    expect((await member.call("POST /compat/chat/completions", { model })).status).toBe(400);
    expect((await member.call("POST /compat/chat/completions", "{")).status).toBe(400);
  });

  it("end a stream that broke off with an error frame", async () => {
    upstream.reply("/chat/completions", resetAfter(500, sse(textChunks("one two three four five"))));
    const stream = await client(member).chat.completions.create({ model, messages, stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow();
  });

  it("abort the upstream when the client leaves", async () => {
    upstream.reply("/chat/completions", silence());
    const leave = new AbortController();
    const asked = client(member)
      .chat.completions.create({ model, messages }, { signal: leave.signal })
      .catch(() => "left");
    const request = await upstream.nextRequest(
      (each) => each.method === "POST" && each.answeredAt === undefined,
    );
    leave.abort();
    expect(await asked).toBe("left");
    await request.aborted;
  });

  it("fill in the instance's defaults, keeping what the caller sent", async () => {
    upstream.always("/chat/completions", text("ok"));
    const { body: defaults } = await admin.call("GET /api/v1/configs/models");
    const set = (params: object) =>
      admin.call("POST /api/v1/configs/models", { ...defaults, DEFAULT_MODEL_PARAMS: params });
    expect((await set({ temperature: 0.1, seed: 4 })).status).toBe(200);
    const answer = await member.call("POST /compat/chat/completions", { model, messages, seed: 9 });
    await set({});
    expect(answer.status).toBe(200);
    expect(sent().body).toEqual({ model, messages, seed: 9, temperature: 0.1 });
  });
});

describe("the platform's own completions over a connection", () => {
  const own = () => new OpenAI({ baseURL: `${app.url}/api`, apiKey: member.token, maxRetries: 0 });

  it.each(["", "acme"])("stream and answer whole (prefix %j)", async (prefix) => {
    await configure({ prefix_id: prefix });
    const id = prefix ? `${prefix}.${model}` : model;
    upstream.always("/chat/completions", text("Grüße 世界"));
    const stream = await own().chat.completions.create({ model: id, messages, stream: true });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("Grüße 世界");
    expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set([id]));
    const whole = await own().chat.completions.create({ model: id, messages });
    expect(whole).toMatchObject({ model: id, choices: [{ message: { content: "Grüße 世界" } }] });
    expect(sent().body).toEqual({ model, messages });
  });

  it.each([true, false])("hand refusals on (stream %s)", async (stream) => {
    upstream.reply("/chat/completions", rateLimited({ seconds: 3 }));
    const answer = await member.call("POST /api/chat/completions", { model, messages, stream });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "3"]);
    expect(answer.body.error.message).toBe("Rate limit reached");
  });

  it("end a broken stream with an error", async () => {
    upstream.reply(
      "/chat/completions",
      sse([...textChunks("one two").slice(0, 3), errorFrame("overloaded")]),
    );
    const stream = await own().chat.completions.create({ model, messages, stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow("overloaded");
  });
});

describe("other routes of the compat surface", () => {
  it("embed", async () => {
    upstream.always("/embeddings", embeddings(4));
    const answer = await client(member).embeddings.create({
      model,
      input: ["a", "b"],
      encoding_format: "float",
    });
    expect(answer.data.map((each) => each.embedding.length)).toEqual([4, 4]);
  });

  it("are passed through when an operator allows it, by the model or to the first connection", async () => {
    upstream.always("/moderations", json({ results: [] }));
    upstream.always("/files", json({ data: [] }));
    const answer = await member.call("POST /compat/moderations?x=1", { model, input: "a" });
    expect(answer.body).toEqual({ results: [] });
    expect(sent().path).toBe("/v1/moderations?x=1");
    expect((await member.call("GET /compat/files")).body).toEqual({ data: [] });
    await configure({ access: "admins" });
    expect((await member.call("POST /compat/moderations", { model, input: "a" })).status).toBe(404);
    expect((await member.call("GET /compat/%2e%2e%2fadmin")).status).toBe(400);
  });

  it("answer 503 while the connections are switched off, and list nothing", async () => {
    const off = {
      ENABLE_OPENAI_API: false,
      OPENAI_API_BASE_URLS: [upstream.url],
      OPENAI_API_KEYS: [""],
      OPENAI_API_CONFIGS: {},
    };
    expect((await admin.call("POST /compat/config/update", off)).status).toBe(200);
    expect((await admin.call("POST /compat/chat/completions", { model, messages })).status).toBe(503);
    expect((await admin.call("GET /compat/models")).status).toBe(503);
    const listed = await admin.call("GET /api/models");
    expect(listed.body.data.some((item: { id: string }) => item.id === model)).toBe(false);
    expect((await admin.call("GET /compat/config")).body.ENABLE_OPENAI_API).toBe(false);
  });
});
