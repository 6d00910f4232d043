import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { defineFilter } from "#kernel/pipeline/filter.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { type PipelinesServer, startPipelinesServer } from "#test/support/pipelines-server.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { signing, upload as uploadAs } from "./pipelines.fixture.ts";

let app: App;
let upstream: Upstream;
let first: PipelinesServer;
let second: PipelinesServer;
let admin: TestUser;

/** What the local filter saw: it has the lowest priority a function may have. */
const local: { inlet: string[]; outlet: string[] } = { inlet: [], outlet: [] };
const witness = definePlugin({
  id: "witness",
  title: "Witness",
  setup: () => ({
    filters: [
      defineFilter({
        id: "witness",
        name: "Witness",
        priority: Number.MIN_SAFE_INTEGER,
        inlet: (request) => void local.inlet.push(String(request.messages.at(-1)?.content)),
        outlet: (conversation) => void local.outlet.push(String(conversation.messages.at(-1)?.content)),
      }),
    ],
  }),
});

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = ["alpha", "beta"];
  first = await startPipelinesServer("key-one");
  second = await startPipelinesServer("key-two");
  app = await startApp({
    plugins: [witness],
    env: {
      OPENAI_API_BASE_URLS: [upstream.url, first.url, second.url].join(";"),
      OPENAI_API_KEYS: "upstream-key;key-one;key-two",
      OPENAI_API_CONFIGS: JSON.stringify({ 2: { prefix_id: "two" } }),
      PIPELINES_FILTER_TIMEOUT: "1",
      EVALUATION_ARENA_MODELS: JSON.stringify([
        { id: "arena", name: "Arena", meta: { model_ids: ["preset"] } },
      ]),
    },
  });
  admin = await app.admin();
});

afterAll(async () => {
  await app.close();
  await Promise.all([upstream.close(), first.close(), second.close()]);
});

beforeEach(() => {
  local.inlet.length = 0;
  local.outlet.length = 0;
});

const complete = (body: object = {}) =>
  admin.call("POST /api/chat/completions", {
    model: "alpha",
    messages: [{ role: "user", content: "Hi" }],
    ...body,
  });
const upload = (urlIdx: number, filename: string, source: string) =>
  uploadAs(app, [filename, source], { token: admin.token, urlIdx });
/** What the model was asked last, once `run` has been answered. */
const asked = async (run: () => Promise<unknown>) => {
  upstream.reply("/chat/completions", text("Yes"));
  const before = upstream.requests.length;
  await run();
  const request = upstream.requests.slice(before).find(({ path }) => path.endsWith("/chat/completions"));
  return request?.body;
};

describe("remote filters", () => {
  beforeAll(async () => {
    await upload(1, "late.js", signing("late", 9, ["*"]));
    await upload(2, "early.js", signing("early", -3, ["*"]));
    await upload(1, "beta.js", signing("beta", 1, ["beta"]));
    await upload(
      2,
      "pipe.js",
      `({ type: "pipe", valves: {}, inlet: (body) => {
        body.messages.at(-1).content += " own:" + body.model;
        return body;
      } })`,
    );
  });

  it("change the request by priority across servers, before every other filter", async () => {
    expect(await asked(() => complete())).toEqual({
      model: "alpha",
      messages: [{ role: "user", content: "Hi early late" }],
    });
    expect(local.inlet).toEqual(["Hi early late"]);
    expect((await asked(() => complete({ model: "beta" }))).messages[0].content).toBe("Hi early beta late");
  });

  it("hold for workspace models and arenas over the model they name", async () => {
    const record = { id: "preset", name: "Preset", base_model_id: "beta", params: {}, meta: {} };
    expect((await admin.call("POST /api/v1/models/create", record)).status).toBe(200);
    for (const model of ["preset", "arena"]) {
      expect((await asked(() => complete({ model }))).messages[0].content).toBe("Hi early beta late");
    }
  });

  it("see who asks, and what the run is about", async () => {
    const seen: { body: Record<string, unknown>; user: unknown }[] = [];
    second.pipelines.get("early")!.inlet = (body, user) => (seen.push({ body, user }), body);
    await asked(() => complete({ session_id: "s1", metadata: { note: 1 } }));
    await upload(2, "early.js", signing("early", -3, ["*"]));
    expect(seen).toMatchObject([
      {
        user: { id: admin.id, email: admin.email, name: admin.name, role: "admin" },
        body: { model: "alpha", metadata: { note: 1, user_id: admin.id, session_id: "s1", chat_id: "" } },
      },
    ]);
  });

  it("see what is asked for a title, which says so, and not the title", async () => {
    const seen: Record<string, unknown>[] = [];
    second.pipelines.get("early")!.inlet = (body) => (seen.push(body), body);
    second.pipelines.get("early")!.outlet = (body) => (seen.push(body), body);
    upstream.reply("/chat/completions", text('{"title": "Greetings"}'));
    const body = { model: "alpha", messages: [{ role: "user", content: "Hi" }] };
    const answer = await admin.call("POST /api/v1/tasks/title/completions", body);
    await upload(2, "early.js", signing("early", -3, ["*"]));
    expect(answer.body.choices[0].message.content).toBe('{"title":"Greetings"}');
    expect(seen).toMatchObject([
      { model: "alpha", metadata: { task: "title_generation", user_id: admin.id } },
    ]);
    expect(upstream.requests.at(-1)?.body.messages[0].content).toMatch(/ late$/);
    expect(local.inlet).toEqual([]);
  });

  it("refuse a request with their own words", async () => {
    const answer = await complete({ messages: [{ role: "user", content: "forbidden" }] });
    expect([answer.status, answer.body.detail]).toEqual([400, `Not here, ${admin.name}.`]);
  });

  it("see the finished conversation before every other filter", async () => {
    upstream.reply("/chat/completions", text("Yes"));
    const answer = await complete({ stream: true });
    expect(answer.text).not.toContain("early");
    await expect.poll(() => local.outlet).toEqual(["Yes early late"]);
    const messages = [{ id: "m", role: "assistant", content: "Done" }];
    const completed = await admin.call("POST /api/chat/completed", { model: "beta", messages });
    expect(completed.body.messages[0].content).toBe("Done early beta late");
  });

  it("are no models, and a model of theirs runs its own filter last, under its own id", async () => {
    const { data } = (await admin.call("GET /api/models")).body;
    const ids = data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining(["two.pipe", "alpha"]));
    expect(ids.filter((id: string) => /late|early|beta\.js/.test(id))).toEqual([]);
    expect(data.find(({ id }: { id: string }) => id === "two.pipe").pipeline).toMatchObject({ type: "pipe" });
    const seen: string[] = [];
    second.pipelines.get("pipe")!.outlet = (body) => (seen.push(body.model), body);
    await admin.call("POST /api/chat/completed", {
      model: "two.pipe",
      messages: [{ id: "m", role: "assistant", content: "Done" }],
    });
    expect(seen).toEqual(["pipe"]);
    await complete({ model: "two.pipe" });
    expect(local.inlet).toEqual(["Hi early late own:pipe"]);
  });

  it("are left out while their server does not answer, and its silence delays one request only", async () => {
    first.hang(true);
    const started = performance.now();
    expect((await asked(() => complete())).messages[0].content).toBe("Hi early");
    expect(performance.now() - started).toBeGreaterThan(900);
    const again = performance.now();
    expect((await asked(() => complete())).messages[0].content).toBe("Hi early");
    expect(performance.now() - again).toBeLessThan(500);
  });

  it("may not be left out where the operator says so", async () => {
    const setting = (value: boolean) =>
      admin.call("POST /api/v1/configs/settings", { PIPELINES_FILTERS_REQUIRED: value });
    expect((await setting(true)).status).toBe(200);
    expect(await complete()).toMatchObject({
      status: 503,
      body: { detail: "The filter Sign late does not answer. Try again later." },
    });
    await setting(false);
    first.hang(false);
    await expect
      .poll(async () => (await asked(() => complete())).messages[0].content, {
        timeout: 10_000,
        interval: 500,
      })
      .toBe("Hi early late");
  });

  it("are left out while their server is gone, and are back with it", async () => {
    const kept = [...first.pipelines];
    const port = Number(new URL(first.url).port);
    await first.close();
    expect((await asked(() => complete())).messages[0].content).toBe("Hi early");
    expect((await asked(() => complete())).messages[0].content).toBe("Hi early");
    first = await startPipelinesServer("key-one", port);
    kept.forEach(([id, pipeline]) => first.pipelines.set(id, pipeline));
    await expect
      .poll(async () => (await asked(() => complete())).messages[0].content, {
        timeout: 10_000,
        interval: 500,
      })
      .toBe("Hi early late");
  });

  it("are left out when what they answer is no request", async () => {
    first.pipelines.get("late")!.inlet = () => ({ model: "alpha" });
    expect((await asked(() => complete())).messages[0].content).toBe("Hi early");
  });
});
