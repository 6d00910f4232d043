import { LLMock } from "@copilotkit/aimock";
import OpenAI, { RateLimitError } from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { fromAssistant, fromTool, fromUser, toolCall } from "#test/support/wire-parts.ts";

let app: App;
let peer: LLMock;
let sdk: OpenAI;

beforeAll(async () => {
  peer = new LLMock({ port: 0 });
  peer.onMessage("hello", { content: "Hi there, how are you?" });
  peer.onMessage("think", { content: "42", reasoning: "Six times seven." });
  peer.on(
    { userMessage: "weather", hasToolResult: false },
    { toolCalls: [{ name: "get_weather", arguments: '{"city":"Bern"}' }], reasoning: "I need a tool." },
  );
  peer.on({ userMessage: "weather", hasToolResult: true }, { content: "Sunny." });
  await peer.start();
  app = await useApp({
    env: {
      OPENAI_API_BASE_URLS: peer.url,
      OPENAI_API_KEYS: "peer-key",
      OPENAI_API_CONFIGS: JSON.stringify({
        0: { provider: "anthropic", model_ids: ["claude-x"], access: "everyone" },
      }),
    },
  });
  const user = await app.user();
  sdk = new OpenAI({ baseURL: `${app.url}/api`, apiKey: user.token, maxRetries: 0 });
});

afterAll(async () => {
  await app.close();
  await peer.stop();
});

type Params = OpenAI.ChatCompletionCreateParamsNonStreaming;
const ask = (content: string) => ({ model: "claude-x", messages: [fromUser(content)] });
const tools: Params["tools"] = [
  { type: "function", function: { name: "get_weather", parameters: { type: "object", properties: {} } } },
];

it("streams text and whole answers from a published server of the vendor's format", async () => {
  const stream = sdk.chat.completions.stream({ ...ask("hello"), stream_options: { include_usage: true } });
  const final = await stream.finalChatCompletion();
  expect(final.choices[0]?.message.content).toBe("Hi there, how are you?");
  const whole = await sdk.chat.completions.create(ask("hello"));
  expect([whole.choices[0]?.message.content, whole.choices[0]?.finish_reason]).toEqual([
    "Hi there, how are you?",
    "stop",
  ]);
  expect(peer.getRequests().at(-1)?.path).toBe("/v1/messages");
});

it("shows what the model thought", async () => {
  const whole = await sdk.chat.completions.create({ ...ask("think"), reasoning_effort: "low" });
  expect(whole.choices[0]?.message).toMatchObject({ content: "42", reasoning_content: "Six times seven." });
});

it.each([true, false])("keeps signed thoughts through a tool loop, streamed: %s", async (isStreamed) => {
  const asked = { ...ask("weather"), tools, reasoning_effort: "low" as const };
  const message = isStreamed
    ? await collect(asked)
    : (await sdk.chat.completions.create(asked)).choices[0]?.message;
  expect(message).toMatchObject({
    reasoning_content: "I need a tool.",
    tool_calls: [{ function: { name: "get_weather" } }],
  });
  const call = message?.tool_calls?.[0];
  // The server refuses a turn that calls tools without the thought it began with.
  const answer = await sdk.chat.completions.create({
    ...asked,
    messages: [...asked.messages, message as OpenAI.ChatCompletionMessage, fromTool(call?.id ?? "", "sunny")],
  });
  expect(answer.choices[0]?.message.content).toBe("Sunny.");
});

it("passes its refusals on with their type", async () => {
  peer.nextRequestError(429, { message: "Too fast", type: "rate_limit_error" });
  const failure = await sdk.chat.completions.create(ask("hello")).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RateLimitError);
  expect(failure).toMatchObject({ status: 429, message: expect.stringContaining("Too fast") });
});

/** The streamed message, put together as a client would that sends it again. */
async function collect(asked: Params): Promise<OpenAI.ChatCompletionMessage> {
  const message: Record<string, unknown> = fromAssistant("", {
    reasoning_content: "",
    reasoning_details: [],
  });
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  for await (const { choices } of await sdk.chat.completions.create({ ...asked, stream: true })) {
    const delta = (choices[0]?.delta ?? {}) as Record<string, unknown> &
      OpenAI.ChatCompletionChunk.Choice.Delta;
    message["content"] += delta.content ?? "";
    message["reasoning_content"] += String(delta["reasoning_content"] ?? "");
    (message["reasoning_details"] as unknown[]).push(...((delta["reasoning_details"] as unknown[]) ?? []));
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      calls[index] ??= toolCall(id ?? "", called?.name ?? "", "");
      calls[index].function.arguments += called?.arguments ?? "";
    }
  }
  return { ...message, tool_calls: calls } as unknown as OpenAI.ChatCompletionMessage;
}
