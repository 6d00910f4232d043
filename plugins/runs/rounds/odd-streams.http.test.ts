import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { defineTool } from "#kernel/tools/tool.ts";
import { chunk, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { type Frame, sse, text } from "#test/support/upstream-scripts.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { type RunStage, startRunStage } from "../runs.fixture.ts";

/** Notes what it is called with. */
const made: string[] = [];
const recorder = definePlugin({
  id: "recorder",
  title: "Recorder",
  setup: () => ({
    tools: ["one", "two"].map((name) =>
      defineTool({
        id: `recorder.${name}`,
        spec: {
          name,
          description: name,
          parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        },
        run: async ({ city }) => {
          made.push(`${name} ${String(city)}`);
          return "ok";
        },
      }),
    ),
  }),
});

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage({ plugins: [recorder] });
});
afterAll(() => stage?.close());

/** The reply that these frames make, what tools were called with, and what the model was asked next. */
async function run(frames: readonly Frame[], body: object = {}) {
  made.length = 0;
  // Replies to different runs must not be mixed up.
  const seed = Math.floor(Math.random() * 2 ** 31);
  const isOurs = (request: UpstreamRequest) => request.body?.seed === seed;
  stage.upstream.reply(isOurs, sse(frames));
  stage.upstream.reply(isOurs, text("Fine."));
  const chat = await stage.makeChat();
  await stage.complete({ chat_id: chat.chatId, id: chat.replyId, seed, ...body });
  await stage.ended(chat.chatId);
  const asked = stage.upstream.requests.filter(isOurs);
  return { ...chat, asked, reply: await stage.message(chat.chatId, chat.replyId) };
}

const calls = (...pieces: object[]): Frame => chunk({ tool_calls: pieces as never });
const end = (finish: string): Frame => chunk({}, { finish });
const call = (name: string, city: string, more: object = {}) => ({
  ...more,
  type: "function",
  function: { name, arguments: JSON.stringify({ city }) },
});

describe("calls that come", () => {
  const both = ["one Łódź", "two Bonn"];

  it.each<[string, Frame[]]>([
    ["without index", [calls(call("one", "Łódź", { id: "a" })), calls(call("two", "Bonn", { id: "b" }))]],
    [
      "without index in one chunk",
      [calls(call("one", "Łódź", { id: "a" }), call("two", "Bonn", { id: "b" }))],
    ],
    ["without index and id", [calls(call("one", "Łódź")), calls(call("two", "Bonn"))]],
    [
      "with one index and several ids",
      [calls(call("one", "Łódź", { index: 0, id: "a" })), calls(call("two", "Bonn", { index: 0, id: "b" }))],
    ],
    [
      "in pieces without index",
      [
        calls({ id: "a", function: { name: "one", arguments: '{"city":' } }),
        calls({ function: { arguments: '"Łódź"}' } }),
        calls({ id: "b", function: { name: "two", arguments: '{"city":' } }),
        calls({ function: { arguments: '"Bonn"}' } }),
      ],
    ],
    [
      "with a new id on every piece",
      [
        calls({ index: 0, id: "a", function: { name: "one", arguments: '{"city":' } }),
        calls({ index: 0, id: "x", function: { arguments: '"Łódź"}' } }),
        calls({ index: 1, id: "b", function: { name: "two", arguments: '{"city":"Bonn"}' } }),
      ],
    ],
  ])("%s are separate", async (_, frames) => {
    const { reply } = await run([...frames, end("tool_calls")]);
    expect(made).toEqual(both);
    expect(reply).toMatchObject({ content: "Fine.", done: true });
  });

  it("without a required parameter are not run, and the model is told", async () => {
    const bare = { index: 0, id: "a", function: { name: "one", arguments: '{"town":"Bonn"}' } };
    const { asked } = await run([calls(bare), end("tool_calls")]);
    expect(made).toEqual([]);
    expect(asked[1]?.body.messages.at(-1)).toMatchObject({
      role: "tool",
      content: 'Error: "one" needs "city".',
    });
  });

  it("cut by the token limit are marked and not run", async () => {
    const cut = { index: 0, id: "a", function: { name: "one", arguments: '{"city":"Bo' } };
    const { reply, asked } = await run([calls(cut), end("length")]);
    expect(made).toEqual([]);
    expect(asked).toHaveLength(1);
    expect(reply.output).toMatchObject([{ type: "function_call", status: "incomplete" }]);
    expect(reply.error.content).toContain("token limit");
  });
});

it("of several choices the first is written, wherever it stands", async () => {
  const frames = ["A", "B"].map((content) => ({
    ...chunk({}),
    choices: [
      { index: 1, delta: { content: "no" }, finish_reason: null },
      { index: 0, delta: { content }, finish_reason: null },
    ],
  }));
  const { reply } = await run([...frames, end("stop")], { n: 2 });
  expect(reply).toMatchObject({ content: "AB", done: true });
});

describe("an upstream whose stream says nothing", () => {
  it.each<[string, Frame[]]>([
    ["but its end", []],
    ["but comments", [": ping\n\n", ": ping\n\n"]],
    ["that can be read", ["data: {broken\n\n", "data: 5\n\n", "data: {}\n\n"]],
  ])("%s ends the message with an error", async (_, frames) => {
    const { reply } = await run(frames);
    expect(reply).toMatchObject({ content: "", done: true });
    expect(reply.error.content).toMatch(/nothing that can be read|not an event stream/);
  });
});

it("a reply that the provider's filter ended says so", async () => {
  const { reply } = await run(textChunks("Well,", { finish: "content_filter" }));
  expect(reply).toMatchObject({ content: "Well,", done: true });
  expect(reply.error.content).toContain("content filter");
});

it("calls of the caller's own tools are told in the next turn", async () => {
  const tools = [{ type: "function", function: { name: "theirs", parameters: { type: "object" } } }];
  const wanted = [{ id: "call_1", name: "theirs", arguments: "{}" }];
  const { chatId, replyId, reply } = await run(toolCallChunks(wanted), { tools });
  expect(reply.output).toMatchObject([{ type: "function_call", executed: false }]);
  const id = randomUUID();
  const isNext = (request: UpstreamRequest) => request.body?.messages?.at(-1)?.content === id;
  const asked = stage.upstream.nextRequest(isNext);
  stage.upstream.reply(isNext, text("Fine."));
  const user_message = { id, content: id, parentId: replyId };
  await stage.complete({ chat_id: chatId, id: randomUUID(), user_message });
  expect((await asked).body.messages.slice(-3)).toMatchObject([
    { role: "assistant", tool_calls: [{ id: "call_1", function: { name: "theirs" } }] },
    { role: "tool", tool_call_id: "call_1" },
    { role: "user" },
  ]);
  await stage.ended(chatId);
});

it("a reply that came as one whole message, in place of deltas, is read", async () => {
  const whole = { index: 0, message: { role: "assistant", content: "whole in one" }, finish_reason: "stop" };
  const { reply } = await run([{ ...chunk({}), choices: [whole] } as never]);
  expect(reply).toMatchObject({ done: true, content: "whole in one" });
  expect(reply.ending).toBeUndefined();
});

describe("a reply that is not whole says why", () => {
  it("one that was cut at the token limit", async () => {
    const { reply } = await run([...textChunks("Half of", { finish: "length" })]);
    expect(reply).toMatchObject({ content: "Half of", ending: "length" });
  });

  it.each([
    ["nothing", textChunks("")],
    ["thoughts alone", [chunk({ reasoning_content: "Hm." }), end("stop")]],
  ])("one of %s", async (_what, frames) => {
    const { reply } = await run([...frames]);
    expect(reply).toMatchObject({ done: true, content: "", ending: "empty" });
    expect(reply.error).toBeUndefined();
  });

  it("and no more once it is continued", async () => {
    const first = await run([...textChunks("Half of", { finish: "length" })]);
    stage.upstream.reply("/chat/completions", text(" it."));
    await stage.complete({
      chat_id: first.chatId,
      id: first.replyId,
      assistant_message_id: first.replyId,
    });
    await stage.ended(first.chatId);
    const reply = await stage.message(first.chatId, first.replyId);
    expect(reply.content).toBe("Half of it.");
    expect(reply.ending).toBeUndefined();
  });
});
