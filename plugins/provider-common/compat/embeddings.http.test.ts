import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { embeddings, json, rateLimited } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let app: App;
let member: TestUser;

setUp(async (keep) => {
  upstream = await keep(useUpstream());
  upstream.models = ["embedder"];
  app = await keep(
    useApp({
      env: {
        OPENAI_API_BASE_URLS: `${upstream.url};${upstream.origin}/v1/;${upstream.origin}//v1`,
        OPENAI_API_CONFIGS: JSON.stringify({
          0: { access: "everyone", headers: { "X-Agent": "{{USER_AGENT}}" } },
          1: { access: "everyone", prefix_id: "p" },
          2: { access: "admins", prefix_id: "hidden" },
        }),
      },
    }),
  );
  member = await app.user();
});

const sent = () => upstream.requests.findLast((request) => request.path.endsWith("/embeddings"))!.body;
const bases = ["/api", "/api/v1", "/compat"];
const cases = bases.flatMap((base) => [
  [base, "embedder"],
  [base, "p.embedder"],
]) as [string, string][];

describe.each(cases)("below %s with %s", (base, model) => {
  const sdk = () => new OpenAI({ baseURL: app.url + base, apiKey: member.token, maxRetries: 0 });

  it("embeds texts in their order, packed as the SDK asks and as plain numbers alike", async () => {
    upstream.always("/embeddings", embeddings(6));
    const packed = await sdk().embeddings.create({ model, input: ["one", "two", "one"] });
    expect(sent()).toMatchObject({ model: "embedder", encoding_format: "base64" });
    const plain = await sdk().embeddings.create({
      model,
      input: ["one", "two", "one"],
      encoding_format: "float",
    });
    expect(packed).toMatchObject({ object: "list", model, usage: { prompt_tokens: 3, total_tokens: 3 } });
    expect(packed.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    for (const [at, { embedding }] of packed.data.entries()) {
      embedding.forEach((value, n) => expect(value).toBeCloseTo(plain.data[at]!.embedding[n]!, 6));
    }
    expect(plain.data[0]!.embedding).toEqual(plain.data[2]!.embedding);
    expect(plain.data[0]!.embedding).toHaveLength(6);
  });

  it("packs vectors for upstreams that cannot", async () => {
    const data = [{ object: "embedding", index: 0, embedding: [0.5, -2, 3.25] }];
    upstream.reply(
      "/embeddings",
      json({ object: "list", model: "embedder", data, usage: { prompt_tokens: 1 } }),
    );
    const answer = await member.call(`POST ${base}/embeddings`, {
      model,
      input: "x",
      encoding_format: "base64",
    });
    const bytes = Buffer.from(answer.body.data[0].embedding, "base64");
    expect([0, 4, 8].map((at) => bytes.readFloatLE(at))).toEqual([0.5, -2, 3.25]);
    expect(answer.body).toMatchObject({ model, usage: { prompt_tokens: 1 } });
  });

  it("passes on dimensions, tokens and what it does not know", async () => {
    upstream.reply("/embeddings", json({ object: "list", data: [] }));
    const body = { model, input: [[1, 2], [3]], dimensions: 256, user: "u", truncate: true };
    await member.call(`POST ${base}/embeddings`, body);
    expect(sent()).toEqual({ ...body, model: "embedder" });
  });

  it("names what is wrong with a request", async () => {
    for (const [field, body] of [
      ["input", { model }],
      ["input", { model, input: { text: "a" } }],
      ["encoding_format", { model, input: "a", encoding_format: "hex" }],
      ["dimensions", { model, input: "a", dimensions: 0 }],
      ["model", { input: "a" }],
    ] as const) {
      const answer = await member.call(`POST ${base}/embeddings`, body);
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(field)]);
    }
  });

  it("passes refusals on with their status and retry headers", async () => {
    upstream.reply("/embeddings", rateLimited({ seconds: 3 }));
    const answer = await member.call(`POST ${base}/embeddings`, { model, input: "a" });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "3"]);
  });
});

it.each(bases)("tells the upstream which client asks below %s", async (base) => {
  upstream.reply("/embeddings", json({ object: "list", data: [] }));
  await member.call(
    `POST ${base}/embeddings`,
    { model: "embedder", input: "a" },
    { "user-agent": "client/1" },
  );
  expect(upstream.requests.at(-1)?.headers["x-agent"]).toBe("client/1");
});

it.each(bases)("knows no foreign models below %s", async (base) => {
  const answers = await Promise.all(
    ["hidden.embedder", "nothing"].map((model) =>
      member.call(`POST ${base}/embeddings`, { model, input: "a" }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  expect(answers[0]!.body).toEqual(answers[1]!.body);
});

it("says which models embed nothing", async () => {
  const answer = await member.call("POST /api/embeddings", { model: "guide", input: "a" });
  expect(answer.status).toBe(400);
  expect(answer.body.detail).toContain("guide");
});
