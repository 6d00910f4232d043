import Anthropic from "@anthropic-ai/sdk";
import { expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { setUp } from "#test/support/set-up.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { json, sse, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { fromAssistant, fromTool, fromUser, toolCall } from "#test/support/wire-parts.ts";
import { completion } from "./answers.fixture.ts";

let app: App;
let upstream: Upstream;
let sdk: Anthropic;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ models: ["alpha"], connection: {} })));
  const { token } = await app.admin();
  sdk = new Anthropic({ baseURL: `${app.url}/api`, apiKey: token, maxRetries: 0 });
});

const sent = () => upstream.requests.findLast(({ path }) => path.endsWith("/chat/completions"))?.body;
const longName = `mcp__library__${"look_up_the_author_of_".repeat(4)}a_book`;
const question = {
  model: "alpha",
  max_tokens: 9,
  messages: [fromUser("Hi")],
  tools: [{ name: longName, input_schema: { type: "object" as const } }],
  tool_choice: { type: "tool" as const, name: longName },
};

/** The answer of an upstream that calls the tool it was offered, under an id that clients do not take. */
const calling = (isStream: boolean, id: string) => {
  const { name } = sent()?.tools[0].function ?? { name: "" };
  const made = { id, name, arguments: '{"x":1}' };
  return isStream
    ? sse(toolCallChunks([made]))
    : json(completion({ tool_calls: [{ id, type: "function", function: made }] }));
};

it.each([
  [false, "functions.look_up:0"],
  [true, "functions.look_up:0"],
  [true, `call_1__thought__${"x".repeat(500)}`],
])(
  "a call reaches the client in its own words, and comes back in the upstream's (streamed: %s, %s)",
  async (isStream, id) => {
    // The first answer only tells what the upstream is offered.
    upstream.reply("/chat/completions", text("Hi"));
    await sdk.messages.create(question);
    const name = sent()?.tools[0].function.name as string;
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(sent()?.tool_choice).toEqual({ type: "function", function: { name } });

    upstream.reply("/chat/completions", calling(isStream, id));
    const answer = isStream
      ? await sdk.messages.stream(question).finalMessage()
      : await sdk.messages.create(question);
    const use = answer.content[0] as Anthropic.ToolUseBlock;
    expect(use).toMatchObject({ type: "tool_use", name: longName, input: { x: 1 } });
    expect(use.id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);

    upstream.reply("/chat/completions", text("Done"));
    const result = { type: "tool_result" as const, tool_use_id: use.id, content: "1" };
    await sdk.messages.create({
      ...question,
      messages: [...question.messages, fromAssistant(answer.content), fromUser([result])],
    });
    expect(sent()?.messages.slice(1)).toEqual([
      fromAssistant(null, { tool_calls: [toolCall(id, name, '{"x":1}')] }),
      fromTool(id, "1"),
    ]);
  },
);
