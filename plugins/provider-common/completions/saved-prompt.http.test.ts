import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let app: App;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.always("/chat/completions", text("ok"));
  app = await startApp({
    env: {
      OPENAI_API_BASE_URLS: upstream.url,
      OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }),
      DEFAULT_MODEL_PARAMS: JSON.stringify({ system: "You help {{USER_NAME}} {{NOT_KNOWN}}." }),
    },
  });
});

afterAll(async () => {
  await app.close();
  await upstream.close();
});

it("fills the variables of the saved system prompt for who asks, and leaves the caller's own text alone", async () => {
  const { token, name } = await app.user();
  const messages = [
    { role: "system", content: "Be {{USER_NAME}}." },
    { role: "user", content: "Hi {{USER_NAME}}" },
  ];
  const seen = upstream.nextRequest("/chat/completions");
  await app.call("POST /compat/chat/completions", { token, body: { model: "mock-model", messages } });
  expect((await seen).body.messages).toEqual([
    { role: "system", content: `You help ${name} {{NOT_KNOWN}}.\nBe {{USER_NAME}}.` },
    messages[1],
  ]);
});
