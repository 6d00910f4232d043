import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";
import { json } from "#test/support/upstream-scripts.ts";

let one: Runtime;
let two: Runtime;
let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await startApp({ env: { AIOHTTP_CLIENT_TIMEOUT_MODEL_LIST: "1" } });
  admin = await app.admin();
});
afterAll(() => app.close());
beforeEach(async () => {
  one = await startRuntime(["shared:1b", "first:1b"]);
  two = await startRuntime(["shared:1b", "second:1b"]);
  two.version = "0.9.1";
  await configure({});
});
afterEach(() => Promise.all([one.close(), two.close()]));

const call = (route: string, body?: unknown) =>
  app.call(route, { token: admin.token, ...(body !== undefined && { body }) });
const configure = (configs: object, urls = [one.origin, two.origin]) =>
  call("POST /runtime/config/update", { OLLAMA_BASE_URLS: urls, OLLAMA_API_CONFIGS: configs });
const tags = async (path = "api/tags") => {
  const { body } = await call(`GET /runtime/${path}`);
  return Object.fromEntries(
    body.models.map((each: { model: string; urls: number[] }) => [each.model, each.urls]),
  );
};
const chat = (model: string, index = "") =>
  call(`POST /runtime/api/chat${index}`, {
    model,
    messages: [{ role: "user", content: "Hi" }],
    stream: false,
  });
const asked = (runtime: Runtime) => runtime.requests.filter(({ path }) => path === "/api/chat").length;

describe("two backends", () => {
  it("are listed as one, by name, with where each model is (O55)", async () => {
    expect(await tags()).toEqual({ "shared:1b": [0, 1], "first:1b": [0], "second:1b": [1] });
    expect(await tags("api/tags/1")).toEqual({ "shared:1b": [0, 1], "second:1b": [1] });
    const { body } = await call("GET /runtime/api/tags");
    expect(Object.keys(body.models[0])).toEqual(
      expect.arrayContaining([
        "name",
        "model",
        "modified_at",
        "size",
        "digest",
        "details",
        "urls",
        "connection_type",
        "tags",
      ]),
    );
    const common = await call("GET /runtime/v1/models/1");
    expect(common.body.data.map((item: { id: string }) => item.id).toSorted()).toEqual([
      "second:1b",
      "shared:1b",
    ]);
  });

  it("tell the lowest version, or each its own", async () => {
    expect((await call("GET /runtime/api/version")).body).toEqual({ version: "0.9.1" });
    expect((await call("GET /runtime/api/version/0")).body).toEqual({ version: "0.12.3" });
    expect((await call("GET /runtime/api/version/7")).status).toBe(404);
  });

  it("share the calls of a model that both hold; the path may name one", async () => {
    await tags();
    await Promise.all(Array.from({ length: 40 }, () => chat("shared:1b")));
    expect(Math.min(asked(one), asked(two))).toBeGreaterThan(4);
    const before = asked(one);
    await Promise.all(Array.from({ length: 10 }, () => chat("shared:1b", "/1")));
    expect(asked(one)).toBe(before);
    expect([(await chat("first:1b", "/1")).status, (await chat("shared:1b", "/9")).status]).toEqual([
      404, 404,
    ]);
    expect((await call("POST /runtime/api/chat/x", { model: "shared:1b" })).status).toBe(400);
  });

  it("keep prefixes and lists of allowed models apart", async () => {
    await configure({ 0: { prefix_id: "a", tags: [{ name: "fast" }] }, 1: { model_ids: ["second:1b"] } });
    expect(await tags()).toEqual({ "a.shared:1b": [0], "a.first:1b": [0], "second:1b": [1] });
    expect((await chat("shared:1b")).status).toBe(404);
    expect((await chat("a.shared:1b")).body.model).toBe("a.llama3:latest");
    expect(one.last("/api/chat").body.model).toBe("shared:1b");
    const { body } = await call("GET /api/models");
    expect(body.data.find((item: { id: string }) => item.id === "a.first:1b").tags).toEqual([
      { name: "fast" },
    ]);
  });

  it("leave one that is switched off out", async () => {
    await configure({ 0: { enable: false } });
    expect(await tags()).toEqual({ "shared:1b": [1], "second:1b": [1] });
    expect((await call("GET /runtime/api/tags/0")).status).toBe(404);
  });

  it("open a model to everyone only when all that hold it are open", async () => {
    const member = await app.user();
    const seen = async () => (await member.call("GET /runtime/api/tags")).body.models.length;
    expect(await seen()).toBe(0);
    await configure({ 0: { access: "everyone" }, 1: {} });
    const { body } = await member.call("GET /runtime/api/tags");
    expect(body.models.map((each: { model: string }) => each.model)).toEqual(["first:1b"]);
    await configure({ 0: { access: "everyone" }, 1: { access: "everyone" } });
    expect(await seen()).toBe(3);
  });
});

describe("a backend that fails", () => {
  it("is passed over before the first byte, and no call is lost when it dies", async () => {
    await tags();
    await one.close();
    const answers = await Promise.all(Array.from({ length: 20 }, () => chat("shared:1b")));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(asked(two)).toBe(20);
    expect((await chat("first:1b")).status).toBe(502);
  });

  it.each([
    [503, "busy"],
    [404, "model not found"],
  ])(
    "with status %i is passed over too, but its refusal counts when there is no other",
    async (status, error) => {
      await tags();
      one.always("/api/chat", json({ error }, { status }));
      const answers = await Promise.all(Array.from({ length: 10 }, () => chat("shared:1b")));
      expect(answers.every((each) => each.status === 200)).toBe(true);
      const alone = await chat("first:1b");
      expect([alone.status, alone.body]).toEqual([status, { error }]);
    },
  );

  it("by refusing what was asked is not passed over", async () => {
    for (const each of [one, two]) {
      each.always("/api/chat", json({ error: "bad options" }, { status: 400 }));
    }
    await tags();
    expect((await chat("shared:1b")).status).toBe(400);
    expect(asked(one) + asked(two)).toBe(1);
  });

  it("that says nothing does not delay the lists; it is back when it answers (R13)", async () => {
    await two.close();
    two = await startRuntime(["shared:1b", "late:1b"]);
    two.blackHole(true);
    const started = performance.now();
    await configure({}, [one.origin, two.origin, "http://127.0.0.1:9"]);
    expect(await tags()).toEqual({ "shared:1b": [0], "first:1b": [0] });
    expect(performance.now() - started).toBeLessThan(3500);
    const again = performance.now();
    await tags();
    expect(performance.now() - again).toBeLessThan(300);
    two.blackHole(false);
    await call("GET /api/models?refresh=true");
    expect(await tags()).toMatchObject({ "late:1b": [1], "shared:1b": [0, 1] });
  });
});

it("is set up by administrators, who see keys masked and may send them back so", async () => {
  const urls = [one.origin, two.origin];
  const made = await configure({ 0: { key: "very-secret-key-0001", prefix_id: "p" } });
  expect(made.body).toMatchObject({ ENABLE_OLLAMA_API: true, OLLAMA_BASE_URLS: urls });
  expect(JSON.stringify(made.body)).not.toContain("very-secret");
  const shown = await call("GET /runtime/config");
  expect(shown.body).toEqual(made.body);
  expect((await configure(shown.body.OLLAMA_API_CONFIGS)).status).toBe(200);
  await call("GET /api/models?refresh=true");
  expect(one.last("/api/tags").headers["authorization"]).toBe("Bearer very-secret-key-0001");
  const moved = await configure(shown.body.OLLAMA_API_CONFIGS, ["http://127.0.0.1:9"]);
  expect([moved.status, moved.body.error]).toEqual([400, expect.stringContaining("masked key")]);
  expect((await configure({}, ["ftp://x"])).status).toBe(400);
  const verify = (url: string) => call("POST /runtime/verify", { url, key: "k" });
  expect((await verify(two.origin)).body).toEqual({ version: "0.9.1" });
  two.always("/api/version", json({ error: "no" }, { status: 401 }));
  expect((await verify(two.origin)).status).toBe(502);
  expect((await verify("http://127.0.0.1:9")).status).toBe(502);
  const member = await app.user();
  expect((await member.call("GET /runtime/config")).status).toBe(403);
  for (const route of ["POST /runtime/config/update", "POST /runtime/verify"]) {
    expect((await member.call(route, {})).status).toBe(403);
  }
});

it("tells anybody that it is there, and shows its pages to developers", async () => {
  expect((await app.call("GET /runtime/")).body).toEqual({ status: true });
  expect((await app.call("HEAD /runtime/")).status).toBe(200);
  expect((await app.call("GET /runtime/docs")).status).toBe(200);
  const { body } = await app.call("GET /runtime/openapi.json");
  expect(Object.keys(body.paths)).toEqual(
    expect.arrayContaining(["/runtime/api/chat", "/runtime/v1/embeddings/{idx}"]),
  );
});
