import { expect, it } from "vitest";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

let app: App;
let upstream: Upstream;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    useAppWithUpstream({
      models: ["mock-model"],
      env: { DEFAULT_MODEL_PARAMS: JSON.stringify({ system: "You help {{USER_NAME}} {{NOT_KNOWN}}." }) },
    }),
  ));
  upstream.always("/chat/completions", text("ok"));
});

it("fills the variables of the saved system prompt for who asks, and leaves the caller's own text alone", async () => {
  const user = await app.user();
  const messages = [
    { role: "system", content: "Be {{USER_NAME}}." },
    { role: "user", content: "Hi {{USER_NAME}}" },
  ];
  const seen = upstream.nextRequest("/chat/completions");
  await user.call("POST /compat/chat/completions", { model: "mock-model", messages });
  expect((await seen).body.messages).toEqual([
    { role: "system", content: `You help ${user.name} {{NOT_KNOWN}}.\nBe {{USER_NAME}}.` },
    messages[1],
  ]);
});
