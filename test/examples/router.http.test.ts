import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openStream } from "#test/support/client.ts";
import { errorFrame, failure, json, rateLimited, sse, text, tokens } from "#test/support/upstream-scripts.ts";
import { chunk, completion, textChunks } from "#test/support/upstream-chunks.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { openStage, says, type Stage, toFrames, toText } from "./examples.fixture.ts";

let stage: Stage;
let closed: Upstream;

beforeAll(async () => {
  stage = await openStage(["little", "big"]);
  closed = await startUpstream();
  closed.models = ["secret"];
  await stage.post("/compat/config/update", {
    ENABLE_OPENAI_API: true,
    OPENAI_API_BASE_URLS: [stage.upstream.url, closed.url],
    OPENAI_API_KEYS: ["k", "k"],
    OPENAI_API_CONFIGS: { "0": { access: "everyone" }, "1": { access: "admins" } },
  });
  await stage.install("router", { valves: { small: "little", large: "big" } });
  await stage.post("/api/v1/models/create", {
    id: "router",
    name: "Router",
    meta: {},
    params: {},
    access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }],
  });
});

afterAll(async () => {
  await stage.close();
  await closed.close();
});

beforeEach(() => void stage.asked());

const request = { model: "router", messages: [says("user", "Hi")] };

const ask = (content: unknown, more: object = {}, user = stage.admin) =>
  stage.ask({ model: "router", messages: [says("user", content)], ...more }, user);
const models = () => stage.asked().map(({ model }) => model);

describe("the choice", () => {
  it.each<[string, unknown, object, string]>([
    ["a short question", "What time is it?", {}, "little"],
    ["a long one", "x".repeat(401), {}, "big"],
    ["one with a hard word", "Please COMPARE these.", {}, "big"],
    ["a picture", [{ type: "image_url", image_url: { url: "data:," } }], {}, "big"],
    ["tools", "What time is it?", { tools: [{ type: "function", function: { name: "clock" } }] }, "big"],
  ])("%s", async (_what, content, more, model) => {
    for (const stream of [true, false]) {
      stage.upstream.reply("/chat/completions", text("Well said"));
      const answer = await ask(content, { ...more, stream, temperature: 0.3 });
      expect(toText(answer)).toBe("Well said");
      expect(stage.asked()).toMatchObject([{ model, stream, temperature: 0.3 }]);
    }
  });
});

describe("the answer", () => {
  it("is the model's own, under the router's name, with usage and tool calls", async () => {
    stage.upstream.reply("/chat/completions", json(completion("Hi", { model: "little" })));
    expect((await ask("Hi")).body).toMatchObject({ model: "router", usage: { total_tokens: 15 } });
    const call = {
      tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
    };
    stage.upstream.reply("/chat/completions", sse([chunk(call), chunk({}, { finish: "tool_calls" })]));
    const streamed = toFrames((await ask("Hi", { stream: true })).text);
    expect(streamed[0]).toMatchObject({ model: "router", choices: [{ delta: call }] });
    expect(streamed.at(-1).choices[0].finish_reason).toBe("tool_calls");
  });

  it("is streamed through as it comes", async () => {
    const gate = Promise.withResolvers<void>();
    async function* slow() {
      yield* textChunks(["one "]).slice(0, 2);
      await gate.promise;
      yield* textChunks(["two"]).slice(1);
    }
    stage.upstream.reply("/chat/completions", sse(slow()));
    // Resolves with the first piece, while the second is held back.
    const open = await openStream(stage.app.url, stage.admin.token, request);
    gate.resolve();
    const frames = toFrames(await open.rest());
    expect(frames.map(({ choices }) => choices[0].delta.content ?? "").join("")).toBe("one two");
  });

  it("ends at the model when the caller leaves", async () => {
    stage.upstream.reply("/chat/completions", tokens(1000, 20));
    const open = await openStream(stage.app.url, stage.admin.token, request);
    const seen = stage.upstream.requests.at(-1);
    expect(seen?.body).toMatchObject({ model: "little", stream: true });
    open.abort();
    expect(await seen?.aborted).toBeGreaterThan(0);
  });
});

describe("the fall back", () => {
  it.each([true, false])("asks the other model when one is refused or down (stream: %s)", async (stream) => {
    for (const script of [rateLimited(), failure(500, "broken"), sse([errorFrame("no room")])]) {
      stage.upstream.reply("/chat/completions", script);
      stage.upstream.reply("/chat/completions", text("From the other"));
      expect(toText(await ask("Hi", { stream }))).toBe("From the other");
      expect(models()).toEqual(["little", "big"]);
    }
    const { lines } = (await stage.admin.call("GET /api/v1/functions/id/router/logs")).body;
    expect(lines.at(-1)).toMatchObject({
      level: "warn",
      text: expect.stringContaining("little failed, big is asked"),
    });
  });

  it("asks as the caller: a model that is not for everybody is refused to members", async () => {
    await stage.post("/api/v1/functions/id/router/valves/update", { small: "secret", large: "big" });
    const member = await stage.app.user();
    closed.always("/chat/completions", text("For administrators"));
    stage.upstream.always("/chat/completions", text("For everybody"));
    expect(toText(await ask("Hi", { stream: true }))).toBe("For administrators");
    expect(toText(await ask("Hi", { stream: true }, member))).toBe("For everybody");
    await stage.post("/api/v1/functions/id/router/valves/update", { small: "little", large: "big" });
  });

  it("tells the caller when both fail, or nobody has named models", async () => {
    stage.upstream.reply("/chat/completions", failure(500, "first"));
    stage.upstream.reply("/chat/completions", failure(500, "second"));
    const answer = await ask("Hi");
    expect(answer.status).toBe(502);
    expect(answer.text).toContain("second");
    await stage.post("/api/v1/functions/id/router/valves/update", {});
    expect((await ask("Hi", { stream: true })).text).toContain("The router has no models yet");
    await stage.post("/api/v1/functions/id/router/valves/update", { small: "little", large: "big" });
  });

  it("does not go on with a sentence that another model began", async () => {
    stage.upstream.reply("/chat/completions", sse([...textChunks(["I be"]).slice(0, 2), errorFrame("lost")]));
    const answer = await ask("Hi", { stream: true });
    expect(answer.text).toContain("I be");
    expect(answer.text).toContain('"error"');
    expect(models()).toEqual(["little"]);
  });
});
