import { LLMock } from "@copilotkit/aimock";
import OpenAI, { RateLimitError } from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
let peer: LLMock;
let sdk: OpenAI;

beforeAll(async () => {
  peer = new LLMock({ port: 0 });
  peer.onMessage("hello", { content: "Hi there, how are you?" });
  peer.onMessage("weather", { toolCalls: [{ name: "get_weather", arguments: '{"city":"Bern"}' }] });
  peer.onEmbedding("a text", { embedding: [0.1, 0.2, 0.3] });
  await peer.start();
  app = await useApp({
    env: {
      OPENAI_API_BASE_URLS: `${peer.url}/v1`,
      OPENAI_API_KEYS: "peer-key",
      OPENAI_API_CONFIGS: '{"0": {"model_ids": ["gpt-4o"], "access": "everyone"}}',
    },
  });
  const user = await app.user();
  sdk = new OpenAI({ baseURL: `${app.url}/api`, apiKey: user.token, maxRetries: 0 });
});

afterAll(async () => {
  await app.close();
  await peer.stop();
});

const ask = (content: string) => ({ model: "gpt-4o", messages: [{ role: "user" as const, content }] });

it("streams text and whole answers from a published server of the common format", async () => {
  const stream = sdk.chat.completions.stream(ask("hello"));
  expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe("Hi there, how are you?");
  const whole = await sdk.chat.completions.create(ask("hello"));
  expect(whole.choices[0]?.message.content).toBe("Hi there, how are you?");
  expect(peer.getRequests().at(-1)?.headers["authorization"]).toBeDefined();
});

it("hands the model's tool calls to the caller, unexecuted, streamed and whole", async () => {
  const tools = [
    {
      type: "function" as const,
      function: { name: "get_weather", parameters: { type: "object", properties: {} } },
    },
  ];
  const streamed = await sdk.chat.completions.stream({ ...ask("weather"), tools }).finalChatCompletion();
  const whole = await sdk.chat.completions.create({ ...ask("weather"), tools });
  for (const { choices } of [streamed, whole]) {
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    const call = choices[0]?.message.tool_calls?.[0];
    expect(call?.type === "function" && [call.function.name, JSON.parse(call.function.arguments)]).toEqual([
      "get_weather",
      { city: "Bern" },
    ]);
  }
});

it("embeds", async () => {
  const answer = await sdk.embeddings.create({ model: "gpt-4o", input: "a text", encoding_format: "float" });
  expect(answer.data[0]?.embedding).toEqual([0.1, 0.2, 0.3]);
});

it("passes its refusals on with their type", async () => {
  peer.nextRequestError(429, { message: "Too fast", type: "rate_limit_error" });
  const failure = await sdk.chat.completions.create(ask("hello")).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RateLimitError);
  expect(failure).toMatchObject({ status: 429, message: expect.stringContaining("Too fast") });
});
