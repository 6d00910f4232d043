import { expect, it } from "vitest";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { failure, json } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    useAppWithUpstream({
      models: ["m"],
      connections: [{ provider: "llama.cpp", prefix_id: "box" }, { access: "everyone" }],
      env: { OPENAI_API_KEYS: "sk-box" },
    }),
  ));
  admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
});

const unload = (model: string, token = admin.token) =>
  app.call("POST /api/models/unload", { token, body: { model } });
const asked = () => upstream.requests.filter(({ path }) => path.endsWith("/unload"));

it("a server that can is told to free a model's memory, under its own name", async () => {
  upstream.reply("/models/unload", json({ success: true }));
  expect((await unload("box.m")).body).toEqual({ status: true });
  expect(asked()).toMatchObject([
    { path: "/models/unload", body: { model: "m" }, headers: { authorization: "Bearer sk-box" } },
  ]);
});

it("its refusal is told", async () => {
  upstream.reply("/models/unload", failure(400, "model is not loaded"));
  const answer = await unload("box.m");
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("model is not loaded")]);
});

it("other connections cannot, and nobody but administrators asks", async () => {
  const before = asked().length;
  expect((await unload("m")).status).toBe(400);
  expect((await unload("box.m", (await app.user()).token)).status).toBe(403);
  expect(asked().length).toBe(before);
});
