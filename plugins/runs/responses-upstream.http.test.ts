import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { runs, toolbox } from "#plugins/completions/tools/tools.fixture.ts";
import { calls, respond, said, thought } from "#test/support/upstream-responses.ts";
import { resetAfter } from "#test/support/upstream-faults.ts";
import { rateLimited } from "#test/support/upstream-scripts.ts";
import { eventsOf, type RunStage, startRunStage } from "./runs.fixture.ts";

let stage: RunStage;

beforeAll(async () => {
  stage = await startRunStage({
    plugins: [toolbox],
    env: { OPENAI_API_CONFIGS: JSON.stringify({ 0: { api_type: "responses", model_ids: ["gpt-5-alpha"] } }) },
  });
});
afterAll(() => stage?.close());
beforeEach(() => void (runs.length = 0));

/** Runs a chat-bound completion to its end; answers the reply and what the upstream was asked for it. */
async function run(body: object = {}) {
  const chat = await stage.makeChat();
  const before = stage.upstream.requests.length;
  const client = await stage.connect();
  const answer = await stage.complete({
    model: "gpt-5-alpha",
    chat_id: chat.chatId,
    id: chat.replyId,
    ...body,
  });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  await stage.ended(chat.chatId);
  const asked = stage.upstream.requests.slice(before).filter(({ path }) => path.endsWith("/responses"));
  return { ...chat, client, asked, reply: await stage.message(chat.chatId, chat.replyId) };
}

it("stores thoughts and text as items, and tells them as they grow", async () => {
  stage.upstream.reply(
    "/responses",
    respond([thought("Let me see"), said("Grüße 世界")], { split: "bytes" }),
  );
  const { reply, replyId, client } = await run();
  expect(reply).toMatchObject({
    content: "Grüße 世界",
    done: true,
    output: [
      { type: "reasoning", status: "completed", content: [{ text: "Let me see" }] },
      { type: "message", status: "completed", content: [{ text: "Grüße 世界" }] },
    ],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 20,
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
    },
  });
  await client.event((_, data) => data?.data?.type === "chat:active" && data.data.data.active === false);
  const deltas = eventsOf(client, replyId).filter(({ data }) => data.type === "chat:message:delta");
  const textOf = (kind: string) =>
    deltas
      .filter(({ data }) => data.data.kind === kind)
      .map(({ data }) => data.data.content)
      .join("");
  expect([textOf("reasoning"), textOf("text")]).toEqual(["Let me see", "Grüße 世界"]);
});

it("runs what the model calls, and gives its sealed thoughts back to it", async () => {
  stage.upstream.reply(
    "/responses",
    respond([thought("I need the time", "sealed-1"), said("One moment."), calls("call_1", "clock", "{}")]),
  );
  stage.upstream.reply("/responses", respond([thought("", "sealed-2"), said("It is noon.")]));
  const { reply, asked } = await run();
  expect(runs).toMatchObject([{ name: "clock", userId: stage.user.id }]);
  expect(asked).toHaveLength(2);
  expect(asked[0]?.body).toMatchObject({
    store: false,
    stream: true,
    include: ["reasoning.encrypted_content"],
    tools: expect.arrayContaining([
      expect.objectContaining({ type: "function", name: "clock", strict: false }),
    ]),
  });
  expect(asked[1]?.body.input.slice(1)).toEqual([
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed-1" },
    {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "One moment.", annotations: [] }],
    },
    { type: "function_call", call_id: "call_1", name: "clock", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "It is noon." },
  ]);
  expect(reply.output.map(({ type }: { type: string }) => type)).toEqual([
    "reasoning",
    "message",
    "function_call",
    "function_call_output",
    "reasoning",
    "message",
  ]);
  expect(reply).toMatchObject({
    content: "One moment.\nIt is noon.",
    done: true,
    usage: {
      prompt_tokens: 100,
      completion_tokens: 20,
      input_tokens: 200,
      output_tokens: 40,
      total_tokens: 240,
    },
  });
});

it("sends pictures along", async () => {
  stage.upstream.reply("/responses", respond([said("A dot.")]));
  const content = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
  ];
  const { reply, asked } = await run({ messages: [{ role: "user", content }] });
  expect(asked[0]?.body.input).toEqual([
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "What is this?" },
        { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
      ],
    },
  ]);
  expect(reply.content).toBe("A dot.");
});

it("leaves tools of the caller to the caller", async () => {
  stage.upstream.reply("/responses", respond([calls("call_1", "mine", '{"x":1}')]));
  const { reply } = await run({ tools: [{ type: "function", function: { name: "mine", parameters: {} } }] });
  expect(runs).toEqual([]);
  expect(reply).toMatchObject({
    done: true,
    output: [{ type: "function_call", call_id: "call_1", name: "mine", arguments: '{"x":1}' }],
  });
});

it.each([
  [
    "fails at its end",
    () =>
      respond([said("Hello")], { status: "failed", more: { error: { code: "x", message: "Overheated" } } }),
    /Overheated/,
    "Hello",
  ],
  [
    "stops before its end",
    () => respond([said("Hello")], { isCut: true }),
    /before it was complete/,
    "Hello",
  ],
  [
    "is reset",
    () => resetAfter(1500, respond([said("Hello ".repeat(500))])),
    /closed the connection|broke off/,
    "",
  ],
  ["refuses", () => rateLimited({ message: "Slow down" }), /Slow down/, ""],
])("keeps what had come where the upstream %s", async (_what, script, words, text) => {
  stage.upstream.reply("/responses", script());
  const { reply } = await run();
  expect(reply).toMatchObject({
    done: true,
    content: expect.stringContaining(text),
    error: { content: expect.stringMatching(words) },
  });
});
