import OpenAI from "openai";
import { expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { setUp } from "#test/support/set-up.ts";
import { chunk, textChunks } from "#test/support/upstream-chunks.ts";
import { json, sse, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let app: App;
let client: OpenAI;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ models: ["m"], connection: {} })));
  const { token } = await app.admin();
  client = new OpenAI({ baseURL: `${app.url}/runtime/v1`, apiKey: token, maxRetries: 0 });
});

it.each([undefined, "bytes"] as const)("tells thoughts in tags from the text (cut at %s)", async (split) => {
  const said = [" <think>H", "m</think>", "Yes <think>"];
  upstream.reply("/chat/completions", text(said.join("")));
  const whole = await client.responses.create({ model: "m", input: "Hi" });
  upstream.reply("/chat/completions", sse(textChunks(said), { ...(split && { split }) }));
  const streamed = await client.responses.stream({ model: "m", input: "Hi" }).finalResponse();
  for (const { output } of [whole, streamed]) {
    expect(output).toMatchObject([
      { type: "reasoning", content: [{ type: "reasoning_text", text: "Hm" }], status: "completed" },
      { type: "message", content: [{ type: "output_text", text: "Yes <think>" }] },
    ]);
  }
});

it("takes the first choice, wherever it stands", async () => {
  const choices = [1, 0].map((index) => ({
    index,
    message: { role: "assistant", content: `choice ${index}` },
    finish_reason: index === 0 ? "stop" : "length",
  }));
  upstream.reply("/chat/completions", json({ choices }));
  const { output_text: said, status } = await client.responses.create({ model: "m", input: "Hi" });
  expect([said, status]).toEqual(["choice 0", "completed"]);
});

it("marks the call that a limit cut, and no other", async () => {
  const call = (index: number, args: string) =>
    chunk({
      tool_calls: [{ index, id: `c${index}`, type: "function", function: { name: "f", arguments: args } }],
    });
  const frames = [call(0, '{"x":1}'), call(1, '{"x":'), chunk({}, { finish: "length" })];
  upstream.reply("/chat/completions", sse(frames));
  const response = await client.responses.stream({ model: "m", input: "Hi" }).finalResponse();
  expect(response).toMatchObject({
    status: "incomplete",
    output: [
      { call_id: "c0", status: "completed" },
      { call_id: "c1", status: "incomplete" },
    ],
  });
});

it("joins the pieces of a call that goes on under a wrong position", async () => {
  const frames = [
    chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: '{"x"' } }] }),
    chunk({ tool_calls: [{ index: 7, function: { arguments: ":1}" } }] }),
    chunk({}, { finish: "tool_calls" }),
  ];
  upstream.reply("/chat/completions", sse(frames));
  const { output } = await client.responses.stream({ model: "m", input: "Hi" }).finalResponse();
  expect(output).toMatchObject([{ call_id: "c", name: "f", arguments: '{"x":1}' }]);
});
