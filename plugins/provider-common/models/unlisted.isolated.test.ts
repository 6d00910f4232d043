import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { embeddings } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

// The vendor's own host is known by its name, which leads to the upstream of this test.
const { lookup } = dns;
vi.spyOn(dns, "lookup").mockImplementation(((name: string, ...rest: [object, () => void]) =>
  lookup(name === "api.openai.com" ? "127.0.0.1" : name, ...rest)) as typeof lookup);
syncBuiltinESMExports();

let upstream: Upstream;
let local: Upstream;
let app: App;
let admin: TestUser;
let member: TestUser;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = ["gpt-5", "text-embedding-3-small"];
  upstream.always("/embeddings", embeddings(2));
  const url = upstream.url.replace("127.0.0.1", "api.openai.com");
  local = await startUpstream();
  local.models = ["embeddinggemma"];
  local.always("/embeddings", embeddings(2));
  app = await startApp({
    env: {
      OPENAI_API_BASE_URLS: `${url};${url}/;${local.url}`,
      OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" }, 1: { prefix_id: "hidden" } }),
    },
  });
  [admin, member] = [await app.admin(), await app.user()];
});
afterAll(async () => {
  await app.close();
  await upstream.close();
  await local.close();
});

const enable = (on: boolean) => admin.call("POST /api/v1/configs/settings", { ENABLE_OPENAI_API: on });
const id = "text-embedding-3-small";

describe("models that embed on the vendor's own host", () => {
  it("stand in no list", async () => {
    const { body } = await admin.call("GET /api/models?refresh=true");
    expect(body.data.map((model: { id: string }) => model.id)).toContain("gpt-5");
    expect(JSON.stringify(body)).not.toContain(id);
  });

  it.each(["/api", "/api/v1", "/compat"])("embed for whom their connection is, below %s", async (base) => {
    const embed = (token: string, model: string) =>
      app.call(`POST ${base}/embeddings`, { token, body: { model, input: "a" } });
    expect((await embed(member.token, id)).body.data).toHaveLength(1);
    expect(upstream.requests.at(-1)?.body).toEqual({ model: id, input: "a" });
    expect((await embed(admin.token, `hidden.${id}`)).body).toMatchObject({ model: `hidden.${id}` });
    expect(upstream.requests.at(-1)?.body).toEqual({ model: id, input: "a" });
    const refused = [await embed(member.token, `hidden.${id}`), await embed(member.token, "nothing")];
    expect(refused.map(({ status }) => status)).toEqual([404, 404]);
    await enable(false);
    expect((await embed(member.token, id)).status).toBe(base === "/compat" ? 503 : 404);
    await enable(true);
  });

  it("are never those that somebody else offers, or that a record stands for", async () => {
    const before = upstream.requests.filter(({ path }) => path.endsWith("/embeddings")).length;
    const record = {
      id: "house-embedding",
      name: "House",
      base_model_id: "embeddinggemma",
      meta: {},
      params: {},
    };
    await admin.call("POST /api/v1/models/create", record);
    const embed = (token: string, model: string, base = "/api") =>
      app.call(`POST ${base}/embeddings`, { token, body: { model, input: "private" } });
    expect((await embed(admin.token, "embeddinggemma")).body.data).toHaveLength(1);
    expect((await embed(admin.token, "house-embedding")).body.data).toHaveLength(1);
    const refused = [
      await embed(member.token, "embeddinggemma"),
      await embed(member.token, "house-embedding"),
      await embed(member.token, "embeddinggemma", "/compat"),
    ];
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(upstream.requests.filter(({ path }) => path.endsWith("/embeddings"))).toHaveLength(before);
  });
});
