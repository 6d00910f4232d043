import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { chunk, reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { calls, respond, said, thought } from "#test/support/upstream-responses.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { json, rateLimited, sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { completion } from "./answers.fixture.ts";

let app: App;
let upstream: Upstream;
let provider: ReturnType<typeof createAnthropic>;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    useAppWithUpstream({ models: ["m"], connections: [{}, { prefix_id: "r", api_type: "responses" }] }),
  ));
  const { token } = await app.admin();
  // This client adds the route alone, so the version stands in its base address.
  provider = createAnthropic({ baseURL: `${app.url}/api/v1`, apiKey: token });
});

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const call = { id: "call_1", name: "weather", arguments: '{"city":"Łódź"}' };
const weather = tool({
  description: "Tells the weather",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `21 °C in ${city}`,
});

/** The same answers from an upstream that chats and from one of the Responses format. */
const upstreams: Record<
  string,
  { model: string; path: string; text: Script; thinks: Script; calls: Script }
> = {
  "a chat upstream": {
    model: "m",
    path: "/chat/completions",
    text: sse(textChunks("Grüße 世界", { usage }), { split: "bytes" }),
    thinks: sse(reasoningChunks(["Six times ", "seven"], ["4", "2"], { usage })),
    calls: sse([chunk({ content: "Let me look." }), ...toolCallChunks([call], { pieces: 3, usage })]),
  },
  "an upstream of the Responses format": {
    model: "r.m",
    path: "/responses",
    text: respond([said("Grüße 世界")], { split: "bytes" }),
    thinks: respond([thought("Six times seven"), said("42")]),
    calls: respond([said("Let me look."), calls(call.id, call.name, call.arguments)]),
  },
};

describe.each(Object.entries(upstreams))("with %s the toolkit's vendor provider", (_name, behind) => {
  const asked = () => upstream.requests.findLast(({ path }) => path.endsWith(behind.path))!.body;

  it("streams a text", async () => {
    upstream.reply(behind.path, behind.text);
    const result = streamText({ model: provider(behind.model), prompt: "Hi", maxOutputTokens: 100 });
    expect(await Array.fromAsync(result.textStream).then((pieces) => pieces.join(""))).toBe("Grüße 世界");
    expect(await result.finishReason).toBe("stop");
    expect((await result.usage).outputTokens).toBeGreaterThan(0);
  });

  it("keeps thoughts apart", async () => {
    upstream.reply(behind.path, behind.thinks);
    const result = streamText({ model: provider(behind.model), prompt: "Hi" });
    expect([await result.reasoningText, await result.text]).toEqual(["Six times seven", "42"]);
  });

  it("goes through a loop of a tool by itself", async () => {
    upstream.reply(behind.path, behind.calls);
    upstream.reply(behind.path, behind.text);
    const result = streamText({
      model: provider(behind.model),
      prompt: "How is the weather?",
      tools: { weather },
      stopWhen: stepCountIs(3),
    });
    expect(await result.text).toBe("Grüße 世界");
    expect((await result.steps)[0]?.toolResults).toMatchObject([
      { toolName: "weather", input: { city: "Łódź" }, output: "21 °C in Łódź" },
    ]);
    expect(JSON.stringify(asked())).toContain("21 °C in Łódź");
    expect(JSON.stringify(asked())).toContain("Let me look.");
  });
});

it("gives whole answers", async () => {
  upstream.reply("/chat/completions", json(completion({ content: "Hi" })));
  const { text, usage: spent } = await generateText({ model: provider("m"), prompt: "Hi" });
  expect([text, spent.inputTokens, spent.outputTokens]).toEqual(["Hi", 10, 5]);
});

it("tries again when the upstream says so", async () => {
  upstream.reply("/chat/completions", rateLimited({ seconds: 0 }));
  upstream.reply("/chat/completions", json(completion({ content: "Hi" })));
  expect((await generateText({ model: provider("m"), prompt: "Hi", maxRetries: 1 })).text).toBe("Hi");
});
