import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, callServer, startApp } from "#test/support/app.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { completions, saying } from "../gateway.fixture.ts";

// Document 2, Gateway: the last choice is the first model of the first enabled connection, whatever kind that is.

let app: App;
let runtime: Runtime;
let upstream: Upstream;
let root: string;
let key: string;

const admin = async (route: string, body?: unknown) => (await app.admin()).call(route, body);
const ask = async () => {
  const { url } = (await admin("GET /api/v1/gateway/state")).body;
  const body = { model: "gw/site", stream: false, messages: [{ role: "user", content: "Go" }] };
  return await callServer(url, "POST /v1/chat/completions", { token: key, body });
};

beforeAll(async () => {
  [runtime, upstream, root] = await Promise.all([
    startRuntime(["zephyr:latest", "llama3:latest"]),
    startUpstream(),
    mkdtemp(join(tmpdir(), "workspaces-")),
  ]);
  app = await startApp({
    env: {
      ENABLE_GATEWAY: "true",
      GATEWAY_PORT: "0",
      GATEWAY_ROOT: root,
      ENABLE_OLLAMA_API: "true",
      OLLAMA_BASE_URLS: runtime.origin,
      OPENAI_API_BASE_URLS: "",
    },
  });
  await admin("POST /api/v1/gateway/workspaces", { name: "site", folder: "site" });
  key = (await admin("POST /api/v1/gateway/keys", { name: "test" })).body.key;
  await admin("GET /api/models?refresh=true");
});
afterAll(async () => {
  await app?.close();
  await Promise.all([runtime?.close(), upstream?.close(), rm(root, { recursive: true, force: true })]);
});

it("is a model of the local runtime where nothing else is connected, and none of a person's records", async () => {
  const record = { id: "aaa", base_model_id: "llama3:latest", name: "AAA", meta: {}, params: {} };
  expect((await admin("POST /api/v1/models/create", record)).status).toBe(200);
  const answered = await ask();
  expect([answered.status, answered.body.choices?.[0].message.content]).toEqual([200, "Hello there"]);
  expect(runtime.last("/api/chat").body.model).toBe("llama3:latest");
});

it("is one of a common-format connection before that", async () => {
  upstream.models = ["zeta"];
  const config = { OPENAI_API_BASE_URLS: [upstream.url], OPENAI_API_KEYS: [""], OPENAI_API_CONFIGS: {} };
  expect((await admin("POST /compat/config/update", config)).status).toBe(200);
  upstream.reply(completions, saying("From the other one"));
  expect((await ask()).body.choices[0].message.content).toBe("From the other one");
  expect(upstream.requests.findLast(completions)?.body.model).toBe("zeta");
});
