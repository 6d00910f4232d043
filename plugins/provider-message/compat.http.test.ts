import OpenAI, { RateLimitError } from "openai";
import { expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { json, sse } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";
import { fromUser, textPart, toolCall, toolUse } from "#test/support/wire-parts.ts";

let upstream: Upstream;
let app: App;
let admin: TestUser;
let member: TestUser;

setUp(async (keep) => {
  upstream = await keep(useUpstream());
  upstream.models = ["claude"];
  const vendor = { provider: "anthropic" };
  app = await keep(
    useApp({
      env: {
        OPENAI_API_BASE_URLS: `${upstream.origin};${upstream.origin}/`,
        OPENAI_API_CONFIGS: JSON.stringify({
          0: { ...vendor, access: "everyone", prefix_id: "v" },
          1: { ...vendor, prefix_id: "hidden" },
        }),
      },
    }),
  );
  admin = await app.admin();
  member = await app.user();
});

const sdk = () => new OpenAI({ baseURL: `${app.url}/compat`, apiKey: member.token, maxRetries: 0 });
const sent = () => upstream.requests.findLast(({ path }) => path.endsWith("/v1/messages"))!.body;
const messages = [fromUser("Hi")];
const content = [textPart("Let me look."), toolUse("toolu_1", "weather", { city: "Łódź" })];
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content,
  stop_reason: "tool_use",
  usage: { input_tokens: 7, output_tokens: 5 },
};
const events = [
  { type: "message_start", message: { ...message, content: [], stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: textPart("") },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Let me look." } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { ...content[1], input: {} } },
  { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"city":' } },
  { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '"Łódź"}' } },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
  { type: "message_stop" },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

const expected = {
  finish_reason: "tool_calls",
  message: {
    content: "Let me look.",
    tool_calls: [toolCall("toolu_1", "weather", '{"city":"Łódź"}')],
  },
};

it("lists models of upstreams of the vendor's format below /compat, for those who may use them", async () => {
  const idsOf = async (path: string, { token }: TestUser) =>
    (await app.call(`GET /compat/models${path}`, { token })).body.data.map(({ id }: { id: string }) => id);
  expect(await idsOf("", member)).toEqual(["v.claude"]);
  expect(await idsOf("/1", member)).toEqual([]);
  expect(await idsOf("", admin)).toEqual(["hidden.claude", "v.claude"]);
});

it("answers chat completions with them, streamed and whole", async () => {
  upstream.reply("/v1/messages", sse(events, { split: "bytes", done: false }));
  const streamed = await sdk().chat.completions.stream({ model: "v.claude", messages }).finalChatCompletion();
  upstream.reply("/v1/messages", json(message));
  const whole = await sdk().chat.completions.create({ model: "v.claude", messages });
  for (const answer of [streamed, whole]) {
    expect(answer).toMatchObject({ model: "v.claude", choices: [expected] });
  }
  expect(sent()).toMatchObject({ model: "claude", messages: [{ role: "user" }] });
});

it("fills in what the model has saved, and keeps what is the platform's", async () => {
  const record = {
    id: "brief",
    base_model_id: "v.claude",
    name: "Brief",
    meta: {},
    params: { system: "Be brief.", temperature: 0.2 },
    access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }],
  };
  await admin.call("POST /api/v1/models/create", record);
  upstream.reply("/v1/messages", json(message));
  const body = { model: "brief", messages, chat_id: "c", filter_ids: ["x"] };
  expect((await member.call("POST /compat/chat/completions", body)).status).toBe(200);
  expect(sent()).toMatchObject({ model: "claude", system: [{ text: "Be brief." }], temperature: 0.2 });
  expect(JSON.stringify(sent())).not.toMatch(/filter_ids|chat_id/);
});

it("passes refusals on, and knows no hidden models", async () => {
  const error = { type: "error", error: { type: "rate_limit_error", message: "Slow down" } };
  upstream.reply("/v1/messages", json(error, { status: 429, headers: { "retry-after": "3" } }));
  const refused = await sdk()
    .chat.completions.create({ model: "v.claude", messages })
    .catch((failure: unknown) => failure);
  expect(refused).toBeInstanceOf(RateLimitError);
  expect((refused as RateLimitError).headers?.get("retry-after")).toBe("3");
  const hidden = await member.call("POST /compat/chat/completions", { model: "hidden.claude", messages });
  expect([hidden.status, hidden.body.error.message]).toEqual([404, "Model not found"]);
});
