import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { body, failure, json } from "#test/support/upstream-scripts.ts";
import { html } from "#test/support/upstream-faults.ts";
import { createBreaker } from "#kernel/egress/breaker.ts";
import { findProblem, toConnections } from "./connection.ts";
import { toOffers } from "../models/offers.ts";
import { isNoChatModel, parseModels } from "../models/parse-models.ts";
import { openProvider, type Setup } from "../testing.ts";

let upstream: Upstream;
let opened: ReturnType<typeof openProvider>[] = [];

beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  await Promise.all(opened.map((each) => each.close()));
  opened = [];
  await upstream.close();
});

function open(setup: Partial<Setup> = {}) {
  const made = openProvider({ urls: [upstream.url], ...setup });
  opened.push(made);
  return made;
}

const ids = async (made: ReturnType<typeof open>, options?: { refresh?: boolean }) =>
  (await made.provider.models(options)).map((model) => model.id);

describe("what connections offer", () => {
  it("lists the upstream's models with their facts", async () => {
    upstream.models = [{ id: "a", name: "Model A", created: 12, owned_by: "x" }, "b"];
    const made = open({
      configs: {
        0: { tags: [{ name: "fast" }], connection_type: "local", provider: "llama.cpp", access: "everyone" },
      },
    });
    expect((await made.provider.models())[0]).toEqual({
      id: "a",
      name: "Model A",
      ownedBy: "openai",
      created: 12,
      connectionType: "local",
      tags: [{ name: "fast" }],
      access: "everyone",
      item: {
        urlIdx: 0,
        openai: { connection_type: "local", id: "a", name: "Model A", created: 12, owned_by: "x" },
        provider: "llama.cpp",
      },
    });
  });

  it("hands out the same array until something changes", async () => {
    const made = open();
    const first = await made.provider.models({ refresh: true });
    expect(await made.provider.models({ refresh: true })).toBe(first);
    upstream.models = ["mock-model", "new"];
    expect(await ids(made, { refresh: true })).toEqual(["mock-model", "new"]);
    expect(await made.provider.models()).not.toBe(first);
  });

  it("puts prefixes before ids, takes fixed ids without asking, leaves out what is off or unusable", async () => {
    upstream.models = ["m"];
    const { url } = upstream;
    const configs = {
      0: { prefix_id: "p" },
      1: { model_ids: ["x", "y"] },
      2: { enable: false },
      3: { api_type: "assistants" },
      4: { auth_type: "kerberos" },
    };
    const made = open({ urls: [url, `${url}/fixed/`, url, url, url, "ftp://x"], configs });
    expect(await ids(made, { refresh: true })).toEqual(["p.m", "x", "y"]);
    expect(upstream.requests.map((request) => request.path)).toEqual(["/v1/models"]);
    expect(made.connections.find("p.m")).toMatchObject({ upstreamId: "m" });
    expect(made.lines.filter((line) => line.includes("left out"))).toHaveLength(3);
  });

  it("gives an id that two connections offer to the later one", async () => {
    const other = await startUpstream();
    const made = open({ urls: [upstream.url, other.url] });
    expect(await ids(made, { refresh: true })).toEqual(["mock-model"]);
    expect(made.connections.find("mock-model")!.connection.index).toBe(1);
    await other.close();
  });

  it("leaves out the default host's models that do not chat", () => {
    const [connection] = toConnections(["https://api.openai.com/v1"], [""], {});
    const listed = [
      "gpt-4o",
      "whisper-1",
      "tts-1-hd",
      "dall-e-3",
      "text-embedding-3-small",
      "davinci-002",
      "babbage-002",
    ];
    const offers = toOffers([
      { connection: connection!, list: { models: listed.map((id) => ({ id })), runsPipelines: false } },
    ]);
    expect(offers.models.map((model) => model.id)).toEqual(["gpt-4o"]);
    expect(isNoChatModel("TTS-1")).toBe(true);
  });

  it("follows changed settings at once", async () => {
    const made = open();
    expect(await ids(made)).toEqual(["mock-model"]);
    made.settings.configs = { 0: { prefix_id: "p" } };
    expect(await ids(made)).toEqual(["p.mock-model"]);
    made.settings.baseUrls = [];
    expect(await ids(made)).toEqual([]);
  });
});

describe("lists in other forms", () => {
  it.each([
    ['{"data":[{"id":"a"},{"id":"b"}]}', ["a", "b"]],
    ['[{"id":"a"},"b"]', ["a", "b"]],
    ['{"models":[{"name":"a"},{"model":"b"}]}', ["a", "b"]],
    ['{"data":[{"id":""},{"id":7},null,{},{"id":"a"},{"id":"a"}]}', ["a"]],
  ])("reads %s", (text, expected) => {
    expect(parseModels(text).models.map((model) => model.id)).toEqual(expected);
  });

  it.each(["{}", "[", '"a"', "null", '{"data":{}}'])("refuses %s", (text) => {
    expect(() => parseModels(text)).toThrow("not one");
  });
});

describe("upstreams that fail", () => {
  it("keep their last good list, whatever they answer instead", async () => {
    const made = open();
    expect(await ids(made, { refresh: true })).toEqual(["mock-model"]);
    const answers = [
      failure(500, "broken"),
      failure(401, "who?"),
      html(),
      json({}),
      body("x".repeat(11_000_000), { headers: { "content-type": "application/json" } }),
    ];
    for (const script of answers) {
      upstream.reply("/models", script);
      expect(await ids(made, { refresh: true })).toEqual(["mock-model"]);
    }
    expect(made.lines.filter((line) => line.includes("does not list"))).toHaveLength(1);
    upstream.models = ["back"];
    expect(await ids(made, { refresh: true })).toEqual(["back"]);
    expect(made.lines.filter((line) => line.includes("lists its models again"))).toHaveLength(1);
  });

  it("do not delay the others: a black hole is asked once, behind", async () => {
    const dead = await startUpstream();
    dead.blackHole(true);
    const made = open({ urls: [dead.url, upstream.url], listSeconds: 60 });
    for (let n = 0; n < 50; n++) {
      expect(await ids(made)).toEqual(["mock-model"]);
    }
    // All fifty were answered while the one question to the dead upstream is still open.
    expect(dead.openSockets()).toBe(1);
    await dead.close();
  });

  it("are back in the list once they answer again", async () => {
    const dead = await startUpstream();
    dead.blackHole(true);
    const made = open({ urls: [dead.url, upstream.url], listSeconds: 1 });
    expect(await ids(made, { refresh: true })).toEqual(["mock-model"]);
    dead.blackHole(false);
    dead.models = ["alive"];
    expect(await ids(made, { refresh: true })).toEqual(["alive", "mock-model"]);
    await dead.close();
  });

  it("are asked by one refresh at a time", async () => {
    const made = open();
    await Promise.all(Array.from({ length: 20 }, () => made.provider.models({ refresh: true })));
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("the breaker", () => {
  it("opens after failures or one timeout, lets one try through after a growing pause, closes on success", () => {
    let now = 0;
    const breaker = createBreaker({ threshold: 2, firstPause: 2, longestPause: 5, now: () => now });
    breaker.failed(false);
    expect(breaker.allows()).toBe(true);
    breaker.failed(false);
    expect(breaker.allows()).toBe(false);
    now = 2;
    expect(breaker.allows()).toBe(true);
    breaker.failed(true);
    now = 5;
    expect(breaker.allows()).toBe(false);
    now = 6;
    expect(breaker.allows()).toBe(true);
    breaker.failed(true);
    now = 10;
    expect(breaker.allows()).toBe(false);
    now = 11;
    breaker.succeeded();
    breaker.failed(false);
    expect(breaker.allows()).toBe(true);
    breaker.failed(true);
    expect(breaker.allows()).toBe(false);
  });
});

describe("what cannot be configured", () => {
  it.each([
    ["not a url", {}],
    ["file:///etc/passwd", {}],
    ["http://x", { api_type: "assistants" }],
    ["http://x", { auth_type: "kerberos" }],
    ["http://x", { headers: { "bad name": "x" } }],
    ["http://x", { headers: { "Transfer-Encoding": "chunked" } }],
  ])("%s with %j", (url, config) => {
    expect(findProblem(url, config)).toBeTypeOf("string");
  });

  it.each([
    {},
    { api_type: "chat" },
    { api_type: "responses" },
    { auth_type: "bearer" },
    { auth_type: "none" },
    { provider: "litellm" },
    { provider: "anthropic" },
    { headers: "" as const },
  ])("takes %j", (config) => {
    expect(findProblem("http://127.0.0.1:1/v1", config)).toBeUndefined();
  });
});
