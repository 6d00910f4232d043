import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { json, jsonLines, text } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";
import { fromAssistant, fromUser, textPart, thinking } from "#test/support/wire-parts.ts";

let app: App;
let common: Upstream;
let runtime: Upstream;
let admin: TestUser;

beforeAll(async () => {
  [common, runtime] = await Promise.all([useUpstream(), useUpstream()]);
  common.models = ["alpha"];
  common.always("/chat/completions", text("ok"));
  runtime.always("/api/tags", json({ models: [{ name: "llama", model: "llama" }] }));
  runtime.always("/api/chat", jsonLines([{ message: fromAssistant("Hi"), done: true }]));
  app = await useApp({
    env: {
      OPENAI_API_BASE_URLS: common.url,
      OLLAMA_BASE_URLS: runtime.origin,
      DEFAULT_MODEL_PARAMS: JSON.stringify({
        reasoning_effort: "high",
        custom_params: { reasoning_effort: "medium" },
      }),
    },
  });
  admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
});
afterAll(async () => {
  await app.close();
  await Promise.all([common, runtime].map((each) => each.close()));
});

async function ask(model: string, more: object) {
  const question = { model, max_tokens: 9, messages: [fromUser("Hi")], ...more };
  expect((await admin.call("POST /api/message", question)).status).toBe(200);
  return (model === "alpha" ? common : runtime).requests.at(-1)?.body;
}

it("thinking that is switched off stays off, whatever effort the model has saved", async () => {
  const off = { thinking: { type: "disabled" } };
  expect(await ask("alpha", {})).toMatchObject({ reasoning_effort: "high" });
  expect(await ask("alpha", off)).not.toHaveProperty("reasoning_effort");
  expect(await ask("llama", {})).toMatchObject({ think: "high" });
  expect(await ask("llama", off)).toMatchObject({ think: false });
});

it("earlier thoughts go back to the local runtime", async () => {
  const thought = thinking("Hm");
  const messages = [fromUser("Hi"), fromAssistant([thought, textPart("Yes")]), fromUser("Sure?")];
  const { messages: sent } = await ask("llama", { messages });
  expect(sent[1]).toEqual(fromAssistant("Yes", { thinking: "Hm" }));
});

it("a budget that leaves nothing for the answer is refused", async () => {
  const asked = (budget: number, more: object = {}) => ({
    model: "alpha",
    max_tokens: 2000,
    messages: [fromUser("Hi")],
    thinking: { type: "enabled", budget_tokens: budget },
    ...more,
  });
  const call = (path: "POST /api/message" | "POST /api/message/count_tokens", body: object) =>
    admin.call(path, body);
  for (const body of [asked(2000), asked(3000, { reasoning_effort: "low" })]) {
    const { status, body: told } = await call("POST /api/message", body);
    expect([status, told.error]).toEqual([
      400,
      { type: "invalid_request_error", message: expect.stringContaining("thinking.budget_tokens") },
    ]);
  }
  expect((await call("POST /api/message", asked(1999))).status).toBe(200);
  // Counting has no limit to compare with.
  common.reply("/count_tokens", json({ input_tokens: 3 }));
  const { max_tokens: _limit, ...counted } = asked(3000);
  expect((await call("POST /api/message/count_tokens", counted)).body).toEqual({ input_tokens: 3 });
});
