import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { chunk, reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { calls, respond, said, thought } from "#test/support/upstream-responses.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

let app: App;
let upstream: Upstream;
let token: string;

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    useAppWithUpstream({
      models: ["m"],
      connections: [{ api_type: "chat" }, { prefix_id: "r", api_type: "responses" }],
    }),
  ));
  ({ token } = await app.admin());
});

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const call = { id: "call_1", name: "weather", arguments: '{"city":"Łódź"}' };
const weather = tool({
  description: "Tells the weather",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `21 °C in ${city}`,
});

interface Behind {
  readonly model: string;
  readonly path: string;
  readonly text: Script;
  readonly thinks: Script;
  readonly calls: Script;
}

/** The same answers from an upstream that chats and from one of the Responses format. */
const chatting: Behind = {
  model: "m",
  path: "/chat/completions",
  text: sse(textChunks("Grüße 世界", { usage }), { split: "bytes" }),
  thinks: sse(reasoningChunks(["Six times ", "seven"], ["4", "2"], { usage })),
  calls: sse([chunk({ content: "Let me look." }), ...toolCallChunks([call], { pieces: 3, usage })]),
};
const responding: Behind = {
  model: "r.m",
  path: "/responses",
  text: respond([said("Grüße 世界")], { split: "bytes", model: "m" }),
  thinks: respond([thought("Six times seven"), said("42")], { model: "m" }),
  calls: respond([said("Let me look."), calls(call.id, call.name, call.arguments)], { model: "m" }),
};

describe.each([
  ["/runtime/v1", "a chat upstream", chatting],
  ["/compat", "a chat upstream", chatting],
  ["/runtime/v1", "an upstream of the format", responding],
  ["/compat", "an upstream of the format", responding],
])("below %s with %s the toolkit", (base, _name, behind) => {
  const model = () => createOpenAI({ baseURL: app.url + base, apiKey: token }).responses(behind.model);
  const asked = () => upstream.requests.findLast(({ path }) => path.endsWith(behind.path))!.body;

  it("streams a text", async () => {
    upstream.reply(behind.path, behind.text);
    const result = streamText({ model: model(), prompt: "Hi" });
    expect((await Array.fromAsync(result.textStream)).join("")).toBe("Grüße 世界");
    expect(await result.finishReason).toBe("stop");
    expect((await result.usage).outputTokens).toBeGreaterThan(0);
  });

  it("keeps thoughts out of the text", async () => {
    upstream.reply(behind.path, behind.thinks);
    expect(await streamText({ model: model(), prompt: "Hi" }).text).toBe("42");
  });

  // Told to keep nothing, the toolkit sends its items again; otherwise it names those of models that chat by their ids.
  const loops = behind === chatting ? [false, undefined] : [false];
  it.each(loops)("goes through a loop of a tool by itself, store: %s", async (store) => {
    upstream.reply(behind.path, behind.calls);
    upstream.reply(behind.path, behind.text);
    const result = streamText({
      model: model(),
      prompt: "How is the weather?",
      tools: { weather },
      stopWhen: stepCountIs(3),
      ...(store !== undefined && { providerOptions: { openai: { store } } }),
    });
    expect(await result.text).toBe("Grüße 世界");
    expect((await result.steps)[0]?.toolResults).toMatchObject([
      { toolName: "weather", input: { city: "Łódź" }, output: "21 °C in Łódź" },
    ]);
    expect(JSON.stringify(asked())).toContain("21 °C in Łódź");
  });
});

it("gives whole answers", async () => {
  for (const base of ["/runtime/v1", "/compat"]) {
    upstream.reply("/chat/completions", text("Hi"));
    const model = createOpenAI({ baseURL: app.url + base, apiKey: token }).responses("m");
    const result = await generateText({ model, prompt: "Hi" });
    expect([result.text, result.usage.inputTokens, result.usage.outputTokens]).toEqual(["Hi", 10, 5]);
  }
});
