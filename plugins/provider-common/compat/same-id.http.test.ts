import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { chatLines, type Runtime, startRuntime } from "#test/support/runtime.ts";
import { json, jsonLines, text } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";

let app: App;
let common: Upstream;
let vendor: Upstream;
let runtime: Runtime;
let admin: TestUser;
let member: TestUser;

beforeAll(async () => {
  common = await useUpstream();
  vendor = await useUpstream();
  runtime = await startRuntime(["twin", "other:latest", "third"]);
  common.models = ["twin", "other"];
  vendor.models = ["third"];
  common.always("/chat/completions", text("common"));
  common.always("/embeddings", json({ object: "list", data: [] }));
  vendor.always(
    "/messages",
    json({ type: "message", model: "third", content: [{ type: "text", text: "vendor" }] }),
  );
  runtime.always("/api/chat", jsonLines(chatLines("runtime")));
  app = await useApp({
    env: {
      OPENAI_API_BASE_URLS: [common.url, vendor.origin].join(";"),
      OPENAI_API_CONFIGS: JSON.stringify({
        0: { access: "everyone" },
        1: { access: "everyone", provider: "anthropic" },
      }),
      OLLAMA_BASE_URLS: runtime.origin,
    },
  });
  admin = await app.admin();
  member = await app.user();
  await admin.call("GET /api/models?refresh=true");
});
afterAll(async () => {
  await app.close();
  await Promise.all([common, vendor, runtime].map((each) => each.close()));
});

const messages = [{ role: "user", content: "Hi" }];
const ask = (route: string, body: object, { token } = member) => app.call(route, { token, body });

it.each([
  ["twin", "common"],
  ["third", "vendor"],
])("a model id of two kinds of connection answers on both surfaces: %s", async (model, said) => {
  const compat = await ask("POST /compat/chat/completions", { model, messages });
  expect([compat.status, compat.body.choices?.[0].message.content]).toEqual([200, said]);
  const native = await ask("POST /runtime/api/chat", { model, messages }, admin);
  expect([native.status, native.text]).toEqual([200, expect.stringContaining("runtime")]);
});

it("other routes of both surfaces find their own model, too", async () => {
  expect((await ask("POST /compat/embeddings", { model: "twin", input: "Hi" })).status).toBe(200);
  const responses = await ask("POST /compat/responses", { model: "twin", input: "Hi" });
  expect([responses.status, responses.text]).toEqual([200, expect.stringContaining("common")]);
});

it("a name without a tag is the runtime's latest there, whoever else has it", async () => {
  expect((await ask("POST /runtime/api/chat", { model: "other", messages }, admin)).status).toBe(200);
  expect(runtime.last("/api/chat").body.model).toBe("other:latest");
});

it("both surfaces list it", async () => {
  const list = async (route: string) =>
    (await admin.call(route)).body.data.map(({ id }: { id: string }) => id);
  expect(await list("GET /compat/models")).toEqual(expect.arrayContaining(["twin", "other", "third"]));
  expect(await list("GET /runtime/v1/models")).toEqual(
    expect.arrayContaining(["twin", "other:latest", "third"]),
  );
});

it("each kind keeps who may use its models", async () => {
  // The runtime's are for administrators here, the others for everyone.
  expect((await ask("POST /runtime/api/chat", { model: "twin", messages })).status).toBe(404);
  expect((await ask("POST /compat/chat/completions", { model: "nothing", messages })).status).toBe(404);
});
