import { beforeEach, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { chat, chatLines, ending, line, type Runtime, startRuntime } from "#test/support/runtime.ts";
import { setUp } from "#test/support/set-up.ts";
import { html, resetAfter, silence } from "#test/support/upstream-faults.ts";
import { json, jsonLines } from "#test/support/upstream-scripts.ts";

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
beforeEach(() => configure({}));

/** Sets the one backend's settings, as an admin does. */
async function configure(config: Record<string, unknown>) {
  const answer = await admin.call("POST /runtime/config/update", {
    ENABLE_OLLAMA_API: true,
    OLLAMA_BASE_URLS: [runtime.origin],
    OLLAMA_API_CONFIGS: { 0: { access: "everyone", ...config } },
  });
  expect(answer.status).toBe(200);
}

const call = (route: string, body?: unknown, user = member) =>
  app.call(route, { token: user.token, ...(body !== undefined && { body }) });

const messages = [{ role: "user", content: "Hi" }];

describe("the runtime's own chat route", () => {
  it("streams unless told otherwise, byte for byte and line by line (O37)", async () => {
    const lines = chatLines("Grüße an die 世界");
    runtime.reply("/api/chat", jsonLines(lines));
    const body = `{"model": "llama3:latest",  "messages": [{"role":"user","content":"Hi"}], "options": {"seed": 1.0}}`;
    const answer = await call("POST /runtime/api/chat", body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/x-ndjson");
    expect(answer.text).toBe(lines.map((each) => `${JSON.stringify(each)}\n`).join(""));
    expect(runtime.last("/api/chat").bytes.toString()).toBe(body);
  });

  it("answers one JSON when asked not to stream (O38)", async () => {
    const answer = await call("POST /runtime/api/chat", { model: "llama3:latest", messages, stream: false });
    expect(answer.body).toEqual(line({ content: "Hello there" }, ending));
  });

  it("takes a name without a tag for the latest", async () => {
    const answer = await call("POST /runtime/api/chat", { model: "llama3", messages, stream: false });
    expect(answer.status).toBe(200);
    expect(runtime.last("/api/chat").body.model).toBe("llama3:latest");
  });

  it("keeps the prefix in replies and off the backend, streamed and whole", async () => {
    await configure({ prefix_id: "box" });
    const ask = { model: "box.llama3:latest", messages };
    const streamed = await call("POST /runtime/api/chat", ask);
    const lines = streamed.text
      .trimEnd()
      .split("\n")
      .map((each) => JSON.parse(each));
    expect(lines).toEqual(chatLines("Hello there").map((each) => ({ ...each, model: "box.llama3:latest" })));
    expect(streamed.headers.get("content-type")).toBe("application/x-ndjson");
    const whole = await call("POST /runtime/api/chat", { ...ask, stream: false });
    expect(whole.body.model).toBe("box.llama3:latest");
    expect(runtime.last("/api/chat").body.model).toBe("llama3:latest");
    expect((await call("POST /runtime/api/chat", { ...ask, model: "llama3:latest" })).status).toBe(404);
  });

  it("passes refusals on with status and body, and refuses other shapes with 400 in its own", async () => {
    runtime.reply(
      "/api/chat",
      json({ error: "server busy" }, { status: 429, headers: { "retry-after": "4" } }),
    );
    const busy = await call("POST /runtime/api/chat", { model: "llama3:latest", messages });
    expect([busy.status, busy.headers.get("retry-after"), busy.body]).toEqual([
      429,
      "4",
      { error: "server busy" },
    ]);
    const odd = await call("POST /runtime/api/chat", { model: "llama3:latest", messages: "Hi" });
    expect([odd.status, odd.body]).toEqual([400, { error: expect.stringContaining("messages") }]);
    runtime.reply("/api/chat", html());
    const page = await call("POST /runtime/api/chat", { model: "llama3:latest", messages });
    expect([page.status, page.body]).toEqual([502, { error: expect.any(String) }]);
  });

  it("ends a stream that broke off with a line that says so", async () => {
    runtime.reply("/api/chat", resetAfter(400, jsonLines(chatLines("one two three four five six"))));
    const plain = await call("POST /runtime/api/chat", { model: "llama3:latest", messages });
    await configure({ prefix_id: "box" });
    runtime.reply("/api/chat", resetAfter(400, jsonLines(chatLines("one two three four five six"))));
    const prefixed = await call("POST /runtime/api/chat", { model: "box.llama3:latest", messages });
    for (const { status, text } of [plain, prefixed]) {
      expect(status).toBe(200);
      const lines = text.split("\n").filter((line) => line !== "");
      // Every one of them is whole, though the runtime's last was not.
      const values = lines.map((line) => JSON.parse(line) as unknown);
      expect(values.length).toBeGreaterThan(1);
      expect(values.at(-1)).toEqual({ error: expect.any(String) });
    }
  });

  it.each(["", "box"])("aborts the backend when the client leaves (prefix %j)", async (prefix) => {
    await configure({ prefix_id: prefix });
    runtime.reply("/api/chat", async (exchange) => {
      await exchange.start(200, { "content-type": "application/x-ndjson", "transfer-encoding": "chunked" });
      await silence()(exchange);
    });
    const leave = new AbortController();
    const path = `${app.url}/runtime/api/chat`;
    const headers = { authorization: `Bearer ${member.token}`, "content-type": "application/json" };
    const body = JSON.stringify({ model: prefix ? "box.llama3:latest" : "llama3:latest", messages });
    const count = runtime.requests.length;
    const asked = fetch(path, { method: "POST", headers, body, signal: leave.signal });
    await asked;
    leave.abort();
    const request = runtime.requests.slice(count).find((each) => each.path === "/api/chat");
    await request?.aborted;
    expect(request?.abortedAt).toBeDefined();
  });
});

describe("what a model has saved", () => {
  const saved = async (params: Record<string, unknown>) => {
    const record = { id: "llama3:latest", base_model_id: null, name: "Llama", meta: {}, params };
    const body = {
      models: [
        { ...record, access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }] },
      ],
    };
    expect((await call("POST /api/v1/models/import", body, admin)).status).toBe(200);
  };

  it("fills in options and prompt where chat and generate left them out", async () => {
    await saved({
      system: "Be brief.",
      temperature: 0.1,
      max_tokens: 9,
      stop: "END",
      keep_alive: "5m",
      num_ctx: 4096,
    });
    await call("POST /runtime/api/chat", { model: "llama3:latest", messages, options: { temperature: 0.8 } });
    expect(runtime.last("/api/chat").body).toEqual({
      model: "llama3:latest",
      messages: [{ role: "system", content: "Be brief." }, ...messages],
      options: { temperature: 0.8, num_predict: 9, stop: ["END"], num_ctx: 4096 },
      keep_alive: "5m",
    });
    runtime.reply("/api/generate", json({ response: "ok", done: true }));
    await call("POST /runtime/api/generate", {
      model: "llama3:latest",
      prompt: "Hi",
      system: "In French.",
      stream: false,
    });
    expect(runtime.last("/api/generate").body).toMatchObject({
      system: "Be brief.\nIn French.",
      options: { temperature: 0.1 },
      prompt: "Hi",
    });
    expect((await call("POST /api/v1/models/model/delete", { id: "llama3:latest" }, admin)).status).toBe(200);
  });
});

describe("the other routes of a model", () => {
  it("embed in the order of the texts (O58)", async () => {
    const vectors = {
      model: "llama3:latest",
      embeddings: [
        [1, 2],
        [3, 4],
      ],
    };
    runtime.reply("/api/embed", json(vectors));
    const answer = await call("POST /runtime/api/embed", { model: "llama3:latest", input: ["a", "b"] });
    expect(answer.body).toEqual(vectors);
    runtime.reply("/api/embeddings", json({ embedding: [1, 2] }));
    const old = await call("POST /runtime/api/embeddings/0", { model: "llama3:latest", prompt: "a" });
    expect(old.body).toEqual({ embedding: [1, 2] });
  });

  it("show details, by either name of the field but never by two", async () => {
    runtime.always("/api/show", json({ modelfile: "FROM llama3" }));
    expect((await call("POST /runtime/api/show", { name: "llama3" })).body).toEqual({
      modelfile: "FROM llama3",
    });
    await call("POST /runtime/api/show", {
      model: "llama3:latest",
      name: "tiny:1b",
      Model: "tiny:1b",
      verbose: true,
    });
    expect(runtime.last("/api/show").body).toEqual({ model: "llama3:latest", verbose: true });
    expect((await call("POST /runtime/api/show", { verbose: true })).status).toBe(400);
  });

  it("generate with the backend's own stream", async () => {
    const lines = [
      { model: "llama3:latest", response: "Hi", done: false },
      { model: "llama3:latest", response: "", ...ending },
    ];
    runtime.reply("/api/generate", jsonLines(lines));
    const answer = await call("POST /runtime/api/generate/0", { model: "llama3:latest", prompt: "Say hi" });
    expect(answer.text).toBe(lines.map((each) => `${JSON.stringify(each)}\n`).join(""));
  });
});

describe("access (O57, O69)", () => {
  const native = [
    "api/generate",
    "api/chat",
    "api/embed",
    "api/embeddings",
    "api/show",
    "v1/completions",
    "v1/chat/completions",
    "v1/messages",
    "v1/embeddings",
  ];

  it.each([...native, ...native.filter((path) => path !== "api/show").map((path) => `${path}/0`)])(
    "to a model is refused at %s as if it did not exist, and nothing is asked",
    async (path) => {
      await configure({ access: "admins" });
      const before = runtime.requests.filter(({ method }) => method === "POST").length;
      const ask = (model: string) =>
        call(`POST /runtime/${path}`, { model, messages, prompt: "x", input: "x", max_tokens: 5 });
      const [closed, missing] = [await ask("llama3:latest"), await ask("no-such-model")];
      expect([closed.status, closed.text]).toEqual([404, missing.text]);
      expect(missing.status).toBe(404);
      expect(runtime.requests.filter(({ method }) => method === "POST").length).toBe(before);
    },
  );

  it("cannot be had by writing the model's key twice or in another case", async () => {
    await admin.call("POST /api/v1/models/import", {
      models: [
        { id: "tiny:1b", base_model_id: null, name: "Closed", meta: {}, params: {}, access_grants: [] },
      ],
    });
    runtime.always("/api/chat", chat("Hello there"));
    for (const text of [
      `{"model":"llama3:latest","messages":[],"Model":"tiny:1b"}`,
      `{"model":"tiny:1b","messages":[],"model":"llama3:latest"}`,
      `{"MODEL":"tiny:1b","messages":[],"model":"llama3:latest"}`,
    ]) {
      expect((await call("POST /runtime/api/chat", text)).status).toBe(200);
      expect(runtime.last("/api/chat").bytes.toString()).not.toContain("tiny");
    }
    expect((await call("POST /runtime/api/chat", { model: "tiny:1b", messages })).status).toBe(404);
  });
});

describe("switched off", () => {
  it("answers 503 on every route but its settings (O60)", async () => {
    const set = (on: boolean) =>
      call(
        "POST /runtime/config/update",
        { ENABLE_OLLAMA_API: on, OLLAMA_BASE_URLS: [runtime.origin] },
        admin,
      );
    expect((await set(false)).body.ENABLE_OLLAMA_API).toBe(false);
    const embeddings = await call("POST /runtime/v1/embeddings", { model: "llama3:latest", input: "a" });
    expect([embeddings.status, embeddings.body.error.code]).toEqual([503, 503]);
    const native = await call("POST /runtime/api/embed", { model: "llama3:latest", input: "a" });
    expect([native.status, native.body]).toEqual([503, { error: expect.any(String) }]);
    expect((await call("GET /runtime/api/tags")).status).toBe(503);
    expect((await call("GET /api/models", undefined, admin)).text).not.toContain("llama3");
    expect((await set(true)).body.ENABLE_OLLAMA_API).toBe(true);
  });
});
