import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { events } from "#kernel/services.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { type PipelinesServer, startPipelinesServer } from "#test/support/pipelines-server.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { signing, upload as uploadAs } from "./pipelines.fixture.ts";

let app: App;
let upstream: Upstream;
let first: PipelinesServer;
let second: PipelinesServer;
let admin: TestUser;

const announced: unknown[] = [];
const listener = definePlugin({
  id: "listener",
  title: "Listener",
  uses: { events },
  setup: ({ use }) => ({
    start: () => void use.events.onSystemEvent((event) => void announced.push(event)),
  }),
});

beforeAll(async () => {
  upstream = await startUpstream();
  first = await startPipelinesServer("key-one");
  second = await startPipelinesServer("key-two");
  app = await startApp({
    plugins: [listener],
    env: {
      OPENAI_API_BASE_URLS: [upstream.url, first.url, second.url].join(";"),
      OPENAI_API_KEYS: "upstream-key;key-one;key-two",
    },
  });
  admin = await app.admin();
});

afterAll(async () => {
  await app.close();
  await Promise.all([upstream.close(), first.close(), second.close()]);
});

const call = (route: string, body?: unknown, token = admin.token) =>
  app.call(route.replace(" ", " /api/v1/pipelines"), { token, body });
const upload = (urlIdx: number, filename: string, source: string) =>
  uploadAs(app, [filename, source], { token: admin.token, urlIdx });

describe("administrators", () => {
  it("see which connections run pipelines", async () => {
    expect((await call("GET /list")).body).toEqual({
      data: [
        { url: first.url, idx: 1 },
        { url: second.url, idx: 2 },
      ],
    });
  });

  it("upload, list and delete pipelines, and hear what the server refuses", async () => {
    announced.length = 0;
    expect((await upload(1, "../one.js", signing("1", 5, ["*"]))).body).toMatchObject({ status: true });
    expect((await call("GET /?urlIdx=1")).body.data).toMatchObject([{ id: "one", type: "filter" }]);
    expect((await call("GET /?urlIdx=2")).body.data).toEqual([]);
    expect(await upload(1, "one.txt", "x")).toMatchObject({
      status: 400,
      body: { detail: "Only .js files are allowed." },
    });
    expect(await call("DELETE /delete", { id: "none", urlIdx: 1 })).toMatchObject({
      status: 404,
      body: { detail: "Pipeline none not found" },
    });
    expect((await call("DELETE /delete", { id: "one", urlIdx: 1 })).status).toBe(200);
    expect(first.pipelines.size).toBe(0);
    expect(announced).toMatchObject([
      { event: "pipeline.uploaded", subject: { type: "pipeline", id: "one.js" }, data: { urlIdx: 1 } },
      { event: "pipeline.deleted", subject: { type: "pipeline", id: "one" } },
    ]);
  });

  it("let a server fetch a pipeline, and read and change its valves", async () => {
    upstream.always("/fetched.js", async (exchange) => {
      const source = signing("F", 1, ["beta"]);
      await exchange.start(200, { "content-type": "text/plain", "content-length": String(source.length) });
      await exchange.write(source);
    });
    const added = await call("POST /add", { url: `${upstream.origin}/fetched.js`, urlIdx: 2 });
    expect(added.body).toMatchObject({ status: true });
    expect((await call("GET /fetched/valves?urlIdx=2")).body).toMatchObject({ sign: "F", priority: 1 });
    expect((await call("GET /fetched/valves/spec?urlIdx=2")).body).toMatchObject({
      properties: { sign: { default: "F" } },
    });
    expect((await call("POST /fetched/valves/update?urlIdx=2", { sign: "G" })).body).toMatchObject({
      sign: "G",
    });
    expect((await call("GET /fetched/valves?urlIdx=1")).status).toBe(404);
    await call("DELETE /delete", { id: "fetched", urlIdx: 2 });
  });

  it("reach nothing but pipelines servers, and no other route of theirs", async () => {
    expect((await call("GET /?urlIdx=0")).status).toBe(404);
    expect((await call("GET /?urlIdx=9")).status).toBe(404);
    expect((await call("GET /%2e%2e/valves?urlIdx=1")).status).toBe(404);
    const before = first.calls.length;
    await call("GET /..%2fpipelines%3fx/valves?urlIdx=1");
    expect(first.calls.slice(before).filter((each) => !each.endsWith("/models"))).toEqual([
      "GET /..%2Fpipelines%3Fx/valves",
    ]);
  });

  it("are the only ones who may", async () => {
    const { token } = await app.user();
    for (const route of ["GET /list", "GET /?urlIdx=1", "GET /one/valves?urlIdx=1"]) {
      expect((await call(route, undefined, token)).status).toBe(403);
    }
  });
});
