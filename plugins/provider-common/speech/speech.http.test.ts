import OpenAI from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import { createLogger } from "#kernel/log.ts";
import { openBlobs } from "#storage/blobs.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { body, json, rateLimited, sse } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";
import { type ConnectionConfig, toConnections } from "../connections/connection.ts";
import { createSpeechCache } from "#kernel/upstream/speech-cache.ts";
import { setUp } from "#test/support/set-up.ts";
import { findUnlisted } from "../models/unlisted.ts";

let upstream: Upstream;
let app: App;
let member: TestUser;
let admin: TestUser;

setUp(async (keep) => {
  upstream = await keep(useUpstream());
  upstream.models = ["voice"];
  const configs = {
    0: { access: "everyone" },
    1: { access: "everyone", prefix_id: "p" },
    2: { prefix_id: "hidden" },
  };
  app = await keep(
    useApp({
      env: {
        OPENAI_API_BASE_URLS: `${upstream.url};${upstream.url}/;${upstream.url}//`,
        OPENAI_API_KEYS: "sk-upstream",
        OPENAI_API_CONFIGS: JSON.stringify(configs),
      },
    }),
  );
  [admin, member] = [await app.admin(), await app.user()];
  await admin.call("GET /api/models?refresh=true");
  upstream.always(path, speaks());
});

const path = "/audio/speech";
const sound = Buffer.from([0xff, 0xfb, 0x90, 0, 10, 13, 0xc3, 0x28]);
const speaks = (bytes: Uint8Array = sound) => body(bytes, { headers: { "content-type": "audio/mpeg" } });
const asked = () => upstream.requests.filter((request) => request.path.endsWith(path));
const ask = (more: object = {}, token = member.token) =>
  fetch(`${app.url}/compat${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "voice", voice: "alloy", input: "Hello", ...more }),
  });
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
let count = 0;
/** A text that nobody spoke before. */
const fresh = () => ({ input: `Text ${(count += 1)}` });

describe("speech", () => {
  it("comes from the connection of the model, to the common client", async () => {
    upstream.reply(path, speaks());
    const sdk = new OpenAI({ baseURL: `${app.url}/compat`, apiKey: member.token, maxRetries: 0 });
    const answer = await sdk.audio.speech.create({ model: "p.voice", voice: "alloy", ...fresh() });
    expect(answer.headers.get("content-type")).toBe("audio/mpeg");
    expect(await bytesOf(answer as never)).toEqual(sound);
    expect(asked().at(-1)).toMatchObject({
      body: { model: "voice", voice: "alloy", input: expect.stringMatching(/^Text/) },
    });
  });

  it("of the same text is paid for once, whoever listens", async () => {
    const text = fresh();
    const again = async () => {
      const before = asked().length;
      const answer = await ask(text, admin.token);
      return [answer.headers.get("content-type"), await bytesOf(answer), asked().length - before];
    };
    expect(await bytesOf(await ask(text))).toEqual(sound);
    // It is kept behind the answer.
    await expect.poll(again).toEqual(["audio/mpeg", sound, 0]);
  });

  it.each([
    ["another voice", { voice: "nova" }],
    ["another format", { response_format: "wav" }],
    ["another connection", { model: "p.voice" }],
  ])("in %s is another one", async (_what, more) => {
    const text = fresh();
    upstream.reply(path, speaks());
    await bytesOf(await ask(text));
    upstream.reply(path, speaks(Buffer.from("other")));
    expect((await bytesOf(await ask({ ...text, ...more }))).toString()).toBe("other");
  });

  it.each([
    ["a format that nobody knows", { response_format: "midi" }, () => speaks()],
    ["events", { stream_format: "sse" }, () => sse([{ type: "speech.audio.delta", audio: "AA==" }])],
    ["an answer that is no sound", {}, () => json({ error: "later" })],
    ["an answer that broke off", {}, () => resetAfter(300, speaks(Buffer.alloc(5000)))],
  ])("is asked for again after %s", async (_what, more, script) => {
    const text = fresh();
    upstream.reply(path, script());
    await ask({ ...text, ...more })
      .then(bytesOf)
      .catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = asked().length;
    upstream.reply(path, speaks());
    expect(await bytesOf(await ask({ ...text, ...more }))).toEqual(sound);
    expect(asked().length).toBe(before + 1);
  });
});

describe("speech is refused", () => {
  it.each([
    ["a model that is not there", { model: "none" }],
    ["a model that is not the caller's", { model: "hidden.voice" }],
    ["a model of another kind of provider", { model: "guide" }],
    ["a model that would speak on the vendor's own host only", { model: "tts-1" }],
  ])("to %s", async (_what, more) => {
    const before = asked().length;
    const answer = await ask(more);
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { error: { message: "Model not found" } },
    ]);
    expect(asked().length).toBe(before);
  });

  it.each([[{ model: undefined }], [{ input: "" }], [{ input: 5 }]])("for %j", async (more) => {
    const answer = await ask(more);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { message: expect.stringContaining(Object.keys(more)[0] as string) } },
    ]);
  });

  it("as the provider refuses it, with its retry headers", async () => {
    upstream.reply(path, rateLimited({ seconds: 4 }));
    const answer = await ask(fresh());
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "4"]);
  });

  it("without the permission", async () => {
    const permissions = { chat: { tts: false } };
    const stored = await admin.call("GET /api/v1/users/default/permissions");
    const tree = { ...stored.body, chat: { ...stored.body.chat, ...permissions.chat } };
    await admin.call("POST /api/v1/users/default/permissions", tree);
    expect((await ask(fresh())).status).toBe(403);
    await admin.call("POST /api/v1/users/default/permissions", stored.body);
  });

  it("to nobody", async () => {
    expect((await ask(fresh(), "sk-wrong")).status).toBe(401);
  });
});

describe("models that speak on the vendor's own host", () => {
  const url = "https://api.openai.com/v1";
  const find = (config: ConnectionConfig, id = "tts-1", role: "user" | "admin" = "user") =>
    findUnlisted(
      toConnections(["https://other.test/v1", url], [], { 0: { access: "everyone" }, 1: config }),
      id,
      { role, groupIds: [] },
    );

  it.each<[string, ConnectionConfig, string, "user" | "admin", string | undefined]>([
    ["for everybody", { access: "everyone" }, "gpt-4o-mini-tts", "user", "gpt-4o-mini-tts"],
    ["for administrators", {}, "tts-1", "admin", "tts-1"],
    ["below a prefix", { access: "everyone", prefix_id: "v" }, "v.tts-1", "user", "tts-1"],
    ["for nobody else", {}, "tts-1", "user", undefined],
    ["without the prefix", { access: "everyone", prefix_id: "v" }, "tts-1", "user", undefined],
    [
      "beside those that are offered",
      { access: "everyone", model_ids: ["gpt-5"] },
      "tts-1",
      "user",
      undefined,
    ],
    ["of a connection that is off", { access: "everyone", enable: false }, "tts-1", "user", undefined],
    ["that would chat", { access: "everyone" }, "gpt-5", "user", undefined],
  ])("are found %s", (_what, config, id, role, expected) => {
    expect(find(config, id, role)?.upstreamId).toBe(expected);
    expect(find(config, id, role)?.connection.index).toBe(expected === undefined ? undefined : 1);
  });
});

describe("kept speeches", () => {
  let now = 0;
  const day = 86_400_000;
  beforeEach(() => void (now = 1_700_000_000_000));

  it("go after two weeks", async () => {
    const { mkdtemp, rm } = await import("node:fs/promises");
    const folder = await mkdtemp("/tmp/speeches-");
    const blobs = await openBlobs({ dataDir: folder });
    const log = createLogger({ level: "CRITICAL", format: "json" });
    const cache = createSpeechCache({ blobs, log, now: () => now });
    const keeper = cache.keeper("a");
    keeper.tap(sound);
    void keeper.end();
    await expect.poll(async () => (await blobs.keys("speech/")).length).toBe(1);
    now += 7 * day;
    await cache.sweep();
    expect(Buffer.concat(await Array.fromAsync((await cache.find("a"))!))).toEqual(sound);
    now += 7 * day;
    expect(await cache.find("a")).toBeUndefined();
    await cache.sweep();
    expect(await blobs.keys()).toEqual([]);
    await rm(folder, { recursive: true });
  });
});
