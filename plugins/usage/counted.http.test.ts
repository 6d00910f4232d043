import OpenAI from "openai";
import { beforeEach, expect, it } from "vitest";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { defineFilter } from "#kernel/pipeline/filter.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { embeddings, json, rateLimited, sse, text } from "#test/support/upstream-scripts.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";

const look = defineFilter({ id: "looker.look", name: "Look", priority: 0, stream: (chunk) => chunk });

/** Looks into the stream of requests that ask for it, so that chunks are parsed on their way. */
const looker = definePlugin({
  id: "looker",
  title: "Looks at chunks",
  setup: () => ({
    filters: [
      { id: "looker.source", select: ({ filterIds }) => (filterIds.includes(look.id) ? [look] : []) },
    ],
  }),
});

let upstream: Upstream;
let app: App;
let admin: TestUser;
let member: TestUser;

setUp(async (keep) => {
  upstream = await keep(startUpstream());
  upstream.models = ["plain", "told"];
  app = await keep(
    startApp({
      plugins: [looker],
      env: {
        OPENAI_API_BASE_URLS: `${upstream.url};${upstream.origin}/v1/`,
        OPENAI_API_CONFIGS: JSON.stringify({
          0: { access: "everyone" },
          1: { access: "everyone", prefix_id: "p" },
        }),
        ENABLE_OPENAI_API_PASSTHROUGH: "true",
      },
    }),
  );
  admin = await app.admin();
  const meta = { capabilities: { usage: true } };
  for (const [id, base] of [
    ["mine", "told"],
    ["mine-p", "p.told"],
  ]) {
    const record = { id, name: id, base_model_id: base, meta, params: {} };
    const body = {
      ...record,
      access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }],
    };
    expect((await admin.call("POST /api/v1/models/create", body)).status).toBe(200);
  }
});
beforeEach(async () => void (member = await app.user()));

const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 30 },
  completion_tokens_details: { reasoning_tokens: 8 },
};
const told = { input_tokens: 100, output_tokens: 20, cached_tokens: 30, reasoning_tokens: 8 };

type Row = Record<string, unknown> & { usage: { input_tokens: number; output_tokens: number } };

/** The member's records once there are `count`; never more of them. */
async function records(count: number): Promise<Row[]> {
  let rows: Row[] = [];
  await expect
    .poll(async () => {
      const path = `GET /api/v1/analytics/messages?limit=100&user_id=${member.id}`;
      rows = (await admin.call(path)).body;
      return rows.length;
    })
    .toBe(count);
  return rows;
}

async function record(): Promise<Record<string, unknown>> {
  const [row] = await records(1);
  const { input_tokens, output_tokens } = row!.usage;
  return { ...row, input_tokens, output_tokens };
}

const chat = (body: Partial<CompletionRequest>, path = "/api/chat/completions") =>
  member.call(`POST ${path}`, {
    model: "mine",
    messages: [{ role: "user", content: "x".repeat(40) }],
    ...body,
  });

it.each<[string, Partial<CompletionRequest>, string]>([
  ["bytes", { stream: true }, "/api/chat/completions"],
  ["chunks of a filter", { stream: true, filter_ids: ["looker.look"] }, "/api/chat/completions"],
  ["chunks of a prefixed connection", { stream: true, model: "mine-p" }, "/api/chat/completions"],
  ["a whole answer", {}, "/api/chat/completions"],
  ["a whole answer of a prefixed connection", { model: "mine-p" }, "/api/chat/completions"],
  [
    "the proxy's bytes",
    { stream: true, stream_options: { include_usage: true } },
    "/compat/chat/completions",
  ],
  ["the proxy's whole answer", {}, "/compat/chat/completions"],
])("counts %s as the upstream counts", async (_what, body, path) => {
  upstream.always("/chat/completions", text("Hello there", { usage }));
  expect((await chat(body, path)).status).toBe(200);
  expect(await record()).toMatchObject({
    ...told,
    model_id: body.model ?? "mine",
    base_model_id: body.model ? "p.told" : "told",
    provider: "common",
    connection: body.model ? "1" : "0",
    wire: "chat",
    user_id: member.id,
    estimated: false,
    outcome: "completed",
    task: null,
  });
});

it.each([
  ["bytes", "plain", {}],
  ["bytes one by one", "plain", { split: "bytes" as const }],
  ["chunks", "p.plain", {}],
])("estimates from %s where the upstream reports nothing, and says so", async (_what, model, options) => {
  upstream.always("/chat/completions", sse(textChunks("y".repeat(80)), options));
  await chat({ model, stream: true });
  const row = await record();
  expect(row).toMatchObject({ input_tokens: 10, output_tokens: 20, estimated: true, outcome: "completed" });
  expect(row["first_token_ms"]).toBeGreaterThanOrEqual(0);
  expect(row["duration_ms"]).toBeGreaterThanOrEqual(row["first_token_ms"] as number);
});

it("estimates a long reply that it did not keep by the part that it kept", async () => {
  const pieces = Array.from({ length: 2000 }, () => "abcd");
  upstream.always("/chat/completions", sse(textChunks(pieces)));
  await chat({ model: "plain", stream: true });
  const { output_tokens: output } = await record();
  expect(output).toBeGreaterThan(1900);
  expect(output).toBeLessThan(2100);
});

it.each([
  ["in a stream", { stream: true }],
  ["whole", {}],
])("counts a refusal %s as failed and free", async (_what, body) => {
  upstream.reply("/chat/completions", rateLimited());
  expect((await chat(body)).status).toBe(429);
  expect(await record()).toMatchObject({
    input_tokens: 0,
    output_tokens: 0,
    outcome: "failed",
    estimated: false,
  });
});

it.each(["plain", "p.plain"])("counts what %s broke off as failed, with what had come", async (model) => {
  // The role, the text, and a part of what follows.
  upstream.reply("/chat/completions", resetAfter(900, sse(textChunks("z".repeat(400)))));
  await chat({ model, stream: true });
  expect(await record()).toMatchObject({ output_tokens: 100, outcome: "failed", estimated: true });
});

it.each(["plain", "p.plain"])("counts what the caller of %s gave up as aborted", async (model) => {
  upstream.reply("/chat/completions", async (exchange) => {
    await exchange.start(200, { "content-type": "text/event-stream" });
    await exchange.write(`data: ${JSON.stringify(textChunks("z".repeat(400))[1])}\n\n`);
    await exchange.hold();
  });
  const leaving = new AbortController();
  const answer = await fetch(`${app.url}/api/chat/completions`, {
    method: "POST",
    signal: leaving.signal,
    headers: { authorization: `Bearer ${member.token}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hi" }] }),
  });
  await answer.body!.getReader().read();
  leaving.abort();
  expect(await record()).toMatchObject({ output_tokens: 100, outcome: "aborted", estimated: true });
});

it("counts what nobody waited for", async () => {
  upstream.reply("/chat/completions", (exchange) => exchange.hold());
  const leaving = new AbortController();
  const asking = fetch(`${app.url}/api/chat/completions`, {
    method: "POST",
    signal: leaving.signal,
    headers: { authorization: `Bearer ${member.token}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "plain", stream: true, messages: [{ role: "user", content: "Hi" }] }),
  }).catch(() => undefined);
  await upstream.nextRequest(
    (request) => request.body?.model === "plain" && request.answeredAt === undefined,
  );
  leaving.abort();
  await asking;
  expect(await record()).toMatchObject({ outcome: "aborted" });
});

it.each([
  ["/api/embeddings", "told"],
  ["/api/v1/embeddings", "p.told"],
  ["/compat/embeddings", "told"],
  ["/compat/embeddings", "p.told"],
])("counts what %s reads with %s", async (path, model) => {
  upstream.always("/embeddings", embeddings(4));
  await member.call(`POST ${path}`, { model, input: ["one two", "three"] });
  expect(await record()).toMatchObject({
    wire: "embeddings",
    input_tokens: 3,
    output_tokens: 0,
    estimated: false,
    outcome: "completed",
  });
});

it.each(["told", "p.told"])("counts the Responses format of %s, streamed and whole", async (model) => {
  const response = {
    object: "response",
    model: "told",
    output: [],
    usage: {
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      input_tokens_details: { cached_tokens: 30 },
      output_tokens_details: { reasoning_tokens: 8 },
    },
  };
  upstream.reply("/responses", json(response));
  await member.call("POST /compat/responses", { model, input: "Hi" });
  const frames = [{ type: "response.completed", sequence_number: 0, response }];
  upstream.reply("/responses", sse(frames, { done: false }));
  await member.call("POST /compat/responses", { model, input: "Hi", stream: true });
  for (const { usage: counted, ...row } of await records(2)) {
    expect({ ...row, ...counted }).toMatchObject({
      ...told,
      wire: "responses",
      outcome: "completed",
      estimated: false,
    });
  }
});

it("counts any other route that a model is asked by", async () => {
  upstream.reply("/completions", json({ object: "text_completion", choices: [{ text: "a" }], usage }));
  await member.call("POST /compat/completions", { model: "told", prompt: "Hi" });
  expect(await record()).toMatchObject({ ...told, wire: "generate" });
});

it("counts each of many calls at once, and nothing twice", { timeout: 20_000 }, async () => {
  upstream.always("/chat/completions", text("Hello there", { usage }));
  const sdk = new OpenAI({ baseURL: `${app.url}/api`, apiKey: member.token, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Hi" }];
  await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      n % 2 === 0
        ? sdk.chat.completions.create({ model: "mine", messages })
        : sdk.chat.completions.stream({ model: "mine", messages }).finalChatCompletion(),
    ),
  );
  await records(60);
  expect((await member.call("GET /api/v1/users/usage")).body.totals).toMatchObject({
    count: 60,
    input_tokens: 6000,
    output_tokens: 1200,
    total_tokens: 7200,
  });
});
