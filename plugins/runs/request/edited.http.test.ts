import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { probes } from "#plugins/completions/reply/probes.fixture.ts";
import { toolbox } from "#plugins/completions/tools/tools.fixture.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { fromAssistant, textPart } from "#test/support/wire-parts.ts";
import { type RunStage, startRunStage } from "../runs.fixture.ts";

let stage: RunStage;

beforeAll(async () => {
  stage = await startRunStage({ plugins: [toolbox, probes] });
});
afterAll(() => stage?.close());

const path = "/chat/completions";
const wire = "Let me look.\nIt is noon, secretly.";

/** A reply that says something, calls a tool, and says something else. */
async function askTheTime(body: object = {}) {
  const chat = await stage.makeChat("What time is it?");
  const calls = toolCallChunks([{ id: "call_1", name: "clock", arguments: "{}" }]);
  stage.upstream.reply(path, sse([...textChunks(["Let me look."]).slice(0, -1), ...calls]));
  stage.upstream.reply(path, text("It is noon, secretly."));
  const wanted = { chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } };
  expect((await stage.complete({ ...wanted, ...body })).status).toBe(200);
  await stage.ended(chat.chatId);
  return chat;
}

/** What a model is sent of the reply in the next turn. */
async function continueAfter({ chatId, replyId }: { chatId: string; replyId: string }) {
  const id = randomUUID();
  const asked = stage.upstream.nextRequest((request) => request.body?.messages?.at(-1)?.content === id);
  stage.upstream.reply(path, text("Fine."));
  const user_message = { id, content: id, parentId: replyId };
  await stage.complete({ chat_id: chatId, id: randomUUID(), user_message });
  await stage.ended(chatId);
  return (await asked).body.messages.slice(1, -1) as { role: string; content: string }[];
}

type Place = Awaited<ReturnType<typeof askTheTime>>;
const post = (route: string, body: object) => stage.user.call(`POST ${route}`, body);
const send = ({ chatId, replyId }: Place, type: string, content: string) =>
  post(`/api/v1/chats/${chatId}/messages/${replyId}/event`, { type, data: { content } });

const ways: [name: string, change: (place: Place) => Promise<unknown>, said: string][] = [
  [
    "by its route",
    ({ chatId, replyId }) => post(`/api/v1/chats/${chatId}/messages/${replyId}`, { content: "Midnight." }),
    "Midnight.",
  ],
  [
    "in blocks",
    ({ chatId, replyId }) =>
      post(`/api/v1/chats/${chatId}/messages/${replyId}`, {
        content: [textPart("Mid"), textPart("night.")],
      }),
    "Mid\nnight.",
  ],
  [
    "with a partial chat",
    ({ chatId, replyId }) =>
      post(`/api/v1/chats/${chatId}`, {
        chat: { history: { messages: { [replyId]: { content: "Midnight." } } } },
      }),
    "Midnight.",
  ],
  ["by an event that replaces it", (place) => send(place, "replace", "Midnight."), "Midnight."],
  ["by an event that adds to it", (place) => send(place, "message", " Or so."), `${wire} Or so.`],
];

it.each(ways)(
  "a reply that is changed %s is what is shown and what models read",
  async (_name, change, said) => {
    const place = await askTheTime();
    const before = (await stage.message(place.chatId, place.replyId)).output;
    expect(before.map(({ type }: { type: string }) => type)).toEqual([
      "message",
      "function_call",
      "function_call_output",
      "message",
    ]);
    expect(await change(place)).toMatchObject({ status: 200 });
    const { output } = await stage.message(place.chatId, place.replyId);
    expect(output).toEqual([
      before[1],
      before[2],
      { ...before[3], content: [{ type: "output_text", text: said }] },
    ]);
    expect(await continueAfter(place)).toMatchObject([
      fromAssistant("", { tool_calls: [{ id: "call_1" }] }),
      { role: "tool", content: "It is noon." },
      fromAssistant(said),
    ]);
  },
);

it("what an outlet filter takes out of a reply with tools stands nowhere any more", async () => {
  const client = await stage.connect();
  const { chatId, replyId } = await askTheTime({ filter_ids: ["keep"] });
  const reply = await stage.message(chatId, replyId);
  expect(reply).toMatchObject({ content: "filtered", originalContent: wire });
  expect(JSON.stringify(reply.output)).not.toContain("secretly");
  const told = await client.event((_, data) => data?.data?.type === "chat:outlet");
  expect(told.data.data.messages.at(-1)).toMatchObject({ content: "filtered", output: reply.output });
  expect((await continueAfter({ chatId, replyId })).at(-1)).toEqual(fromAssistant("filtered"));
});

it("a reply that only called tools says what was written into it", async () => {
  const call = {
    type: "function_call",
    id: "c",
    call_id: "c",
    name: "clock",
    arguments: "{}",
    status: "completed",
  };
  const result = { type: "function_call_output", id: "o", call_id: "c", status: "completed", output: [] };
  const { chatId, replyId } = await stage.makeChat();
  const write = (message: object) =>
    post(`/api/v1/chats/${chatId}`, { chat: { history: { messages: { [replyId]: message } } } });
  await write({ output: [call, result], done: true });
  await write({ content: "Noon." });
  expect((await stage.message(chatId, replyId)).output).toMatchObject([
    call,
    result,
    {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Noon." }],
    },
  ]);
});

it("a reply that is sent as it stands, or with an output of its own, is stored as it was sent", async () => {
  const { chatId, replyId } = await askTheTime();
  const before = await stage.message(chatId, replyId);
  const write = async (message: object) => {
    await post(`/api/v1/chats/${chatId}`, { chat: { history: { messages: { [replyId]: message } } } });
    return await stage.message(chatId, replyId);
  };
  const { output: _output, ...rest } = before;
  expect(await write(rest)).toEqual(before);
  const item = { type: "message", id: "mine", content: [{ type: "output_text", text: "b" }] };
  expect(await write({ content: "a", output: [item] })).toMatchObject({ content: "a", output: [item] });
  const cleared = await write({ content: "c", output: null });
  expect([cleared.content, cleared.output]).toEqual(["c", null]);
});
