import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { defineTool } from "#kernel/tools/tool.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { fromAssistant, fromTool, fromUser, textPart, toolCall } from "#test/support/wire-parts.ts";
import { type RunStage, startRunStage } from "../runs.fixture.ts";

const path = "/chat/completions";
let started: () => void;
const nothing = { type: "object", properties: {} };

/** A tool that does not come to an end. */
const endless = definePlugin({
  id: "endless",
  title: "Endless",
  setup: () => ({
    tools: [
      defineTool({
        id: "endless.wait",
        spec: { name: "wait", description: "Waits", parameters: nothing },
        run: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
            started();
          }),
      }),
    ],
  }),
});

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage({ plugins: [endless] });
});
afterAll(() => stage?.close());

const call = (name: string, id = "call_1") => toolCallChunks([{ id, name, arguments: "{}" }]);

/** What a model is sent of the conversation before the next question. */
async function continueAfter({ chatId, replyId }: { chatId: string; replyId: string }) {
  const id = randomUUID();
  const asked = stage.upstream.nextRequest((request) => request.body?.messages?.at(-1)?.content === id);
  stage.upstream.reply(path, text("Fine."));
  const user_message = { id, content: id, parentId: replyId };
  const next = randomUUID();
  await stage.complete({ chat_id: chatId, id: next, user_message });
  await stage.ended(chatId);
  expect(await stage.message(chatId, next)).toMatchObject({ content: "Fine.", done: true });
  return (await asked).body.messages.slice(0, -1) as object[];
}

describe("a conversation goes on", () => {
  it("after a run was stopped while a tool was at work", async () => {
    const chat = await stage.makeChat("Wait");
    const isAtWork = new Promise<void>((resolve) => (started = resolve));
    stage.upstream.reply(path, sse(call("wait")));
    await stage.complete({ chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } });
    await isAtWork;
    await stage.user.call(`POST /api/tasks/chat/${chat.chatId}/stop`);
    await stage.ended(chat.chatId);
    expect((await stage.message(chat.chatId, chat.replyId)).output).toMatchObject([{ name: "wait" }]);
    expect(await continueAfter(chat)).toEqual([fromUser("Wait")]);
  });

  it("after the model called a tool of the caller's, which nobody runs", async () => {
    const chat = await stage.makeChat("Call");
    stage.upstream.reply(path, sse(call("theirs")));
    const tools = [{ type: "function", function: { name: "theirs", parameters: nothing } }];
    await stage.complete({
      chat_id: chat.chatId,
      id: chat.replyId,
      user_message: { id: chat.userId },
      tools,
    });
    await stage.ended(chat.chatId);
    expect(await continueAfter(chat)).toMatchObject([
      fromUser("Call"),
      { role: "assistant", tool_calls: [{ id: "call_1" }] },
      fromTool("call_1", "This call was not run."),
    ]);
  });

  it("with the results that the caller wrote into the reply", async () => {
    const chat = await stage.makeChat("Call");
    const output = [
      { type: "function_call", id: "a", call_id: "a", name: "theirs", arguments: "{}" },
      { type: "function_call_output", id: "b", call_id: "a", output: [{ type: "input_text", text: "5" }] },
    ];
    await write(chat, { output, done: true });
    expect(await continueAfter(chat)).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "a" }] },
      fromTool("a", "5"),
    ]);
  });

  it("with as much as can be read of an output that others wrote", async () => {
    const chat = await stage.makeChat("Hi");
    const result = { type: "function_call_output", id: "r" };
    const output = [
      null,
      5,
      "text",
      {},
      { type: "message" },
      { type: "message", content: "As text." },
      { type: "message", content: [null, { text: 5 }, textPart("In parts.")] },
      { type: "reasoning", content: null, reasoning_details: "x" },
      { type: "function_call", call_id: "c", name: "one", arguments: { a: 1 } },
      { ...result, call_id: "c", output: "plain" },
      { type: "function_call", call_id: "c", name: "again" },
      { ...result, call_id: "c", output: [null, { type: "output_text", text: "6" }] },
      { type: "function_call", call_id: "lost", name: "three", arguments: "{}" },
      { type: "function_call", name: "without id" },
      { ...result, call_id: "of nobody", output: [] },
      { ...result, output: [] },
    ];
    await write(chat, { output, content: "", done: true });
    expect(await continueAfter(chat)).toEqual([
      fromUser("Hi"),
      fromAssistant("As text.\nIn parts.", { tool_calls: [toolCall("c", "one", '{"a":1}')] }),
      fromTool("c", "plain"),
      fromAssistant("", { tool_calls: [toolCall("c", "again", "{}")] }),
      fromTool("c", "6"),
    ]);
  });

  it("and so does such a reply itself", async () => {
    const chat = await stage.makeChat("Hi");
    const lost = { type: "function_call", id: "l", call_id: "lost", name: "three", arguments: "{}" };
    const said = { type: "message", id: "m", role: "assistant", content: "As text." };
    await write(chat, { output: [null, said, lost], content: "As text.", done: true });
    stage.upstream.reply(path, text("And more."));
    const more = { assistant_message_id: chat.replyId, user_message: { id: chat.userId } };
    await stage.complete({ chat_id: chat.chatId, ...more });
    await stage.ended(chat.chatId);
    expect((await stage.message(chat.chatId, chat.replyId)).content).toBe("As text.And more.");
  });
});

async function write({ chatId, replyId }: { chatId: string; replyId: string }, message: object) {
  const body = { chat: { history: { messages: { [replyId]: message } } } };
  expect((await stage.user.call(`POST /api/v1/chats/${chatId}`, body)).status).toBe(200);
}
