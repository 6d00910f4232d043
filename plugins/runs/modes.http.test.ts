import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { text } from "#test/support/upstream-scripts.ts";
import { type RunStage, startRunStage } from "./runs.fixture.ts";

let stage: RunStage;

beforeAll(async () => {
  stage = await startRunStage();
  stage.upstream.always("/chat/completions", text("Hello"));
});
afterAll(() => stage?.close());

type Chat = Awaited<ReturnType<RunStage["makeChat"]>>;

/** Contract D.16, row by row: what the caller gets, and whether the reply stands in the chat. */
const rows: [name: string, body: (chat: Chat) => object, answer: string, isStored: boolean][] = [
  ["chat, message, stream, session", (c) => ({ chat_id: c.chatId, id: c.replyId }), "task", true],
  [
    "chat, message, stream",
    (c) => ({ chat_id: c.chatId, id: c.replyId, session_id: undefined }),
    "null",
    true,
  ],
  [
    "chat, message, no stream",
    (c) => ({ chat_id: c.chatId, id: c.replyId, stream: false }),
    "completion",
    false,
  ],
  [
    "chat, message, stream left out",
    (c) => ({ chat_id: c.chatId, id: c.replyId, stream: undefined }),
    "completion",
    false,
  ],
  ["chat without a message", (c) => ({ chat_id: c.chatId }), "stream", false],
  ["a session alone", () => ({}), "stream", false],
  [
    "chat, message, stream, the model does not stream",
    (c) => ({ chat_id: c.chatId, id: c.replyId, model: "whole" }),
    "task",
    true,
  ],
];

describe("which mode a completion runs in", () => {
  beforeAll(async () => {
    const model = {
      id: "whole",
      name: "Whole",
      base_model_id: "alpha",
      meta: {},
      params: { stream_response: false },
    };
    expect((await stage.user.call("POST /api/v1/models/create", model)).status).toBe(200);
  });

  it.each(rows)("%s", async (_name, toBody, expected, isStored) => {
    const chat = await stage.makeChat();
    const answer = await stage.complete(toBody(chat));
    expect(answer.status).toBe(200);
    expect(toKind(answer.text)).toBe(expected);
    await stage.ended(chat.chatId);
    const reply = await stage.message(chat.chatId, chat.replyId);
    expect([reply.content, reply.done]).toEqual(isStored ? ["Hello", true] : ["", false]);
  });

  it("the model's Stream Chat Response decides only how the upstream is called", async () => {
    const chat = await stage.makeChat();
    const asked = stage.upstream.nextRequest((request) => request.body?.stream === false);
    await stage.complete({ chat_id: chat.chatId, id: chat.replyId, model: "whole", session_id: undefined });
    expect((await asked).body.model).toBe("alpha");
  });
});

function toKind(answer: string): string {
  if (answer === "null") {
    return "null";
  }
  if (answer.startsWith("data:")) {
    return "stream";
  }
  return "task_ids" in JSON.parse(answer) ? "task" : "completion";
}

describe("what is refused before anything is written", () => {
  it("unknown and foreign chats, and messages of other chats, alike", async () => {
    const { chatId, replyId } = await stage.makeChat();
    const other = await stage.makeChat();
    const stranger = await stage.app.user();
    const cases: object[] = [
      { chat_id: randomUUID(), id: replyId },
      { chat_id: chatId, id: other.replyId },
      { chat_id: chatId, message_ids: [{ model_id: "alpha", message_id: other.replyId }] },
      {
        chat_id: chatId,
        message_ids: [replyId, other.replyId].map((id) => ({ model_id: "alpha", message_id: id })),
      },
      { chat_id: chatId, id: randomUUID(), user_message: { id: other.userId, content: "x" } },
    ];
    const question = { id: randomUUID(), content: "x" };
    const reply = { chat_id: chatId, id: randomUUID() };
    cases.push(
      ...[other.replyId, randomUUID()].flatMap((parentId) => [
        { ...reply, user_message: { ...question, parentId } },
        { ...reply, user_message: question, parent_id: parentId },
        { ...reply, parent_id: parentId },
      ]),
    );
    // Nothing can go on that is not there.
    cases.push({ chat_id: chatId, assistant_message_id: randomUUID() });
    const before = JSON.stringify([await stage.read(chatId), await stage.read(other.chatId)]);
    const answers: number[] = [];
    for (const body of cases) {
      answers.push((await stage.complete(body)).status);
    }
    answers.push((await stage.complete({ chat_id: chatId, id: replyId }, stranger.token)).status);
    answers.push((await stage.complete({ chat_id: chatId, id: replyId, model: "ghost" })).status);
    expect(answers).toEqual(Array.from(answers, () => 404));
    expect(JSON.stringify([await stage.read(chatId), await stage.read(other.chatId)])).toBe(before);
  });

  it.each([
    [{ message_ids: [] }, "message_ids"],
    [{ message_ids: [{ model_id: "alpha" }] }, "message_ids.0.message_id"],
    [{ user_message: { content: "x" } }, "user_message.id"],
    [{ user_message: "x" }, "user_message"],
    [{ user_message: { id: "u", role: "wizard" } }, "user_message.role"],
    [{ regeneration_prompt: 5 }, "regeneration_prompt"],
    [{ parent_id: 5 }, "parent_id"],
    [{ id: "a\u0000b" }, "id"],
    [{ message_ids: [{ model_id: "alpha", message_id: "\ud800" }] }, "message_ids.0.message_id"],
    [{ user_message: { id: "a\u0000b", content: "x" } }, "user_message.id"],
    [{ user_message: { id: "u", content: "\u0000", files: [{ id: "f" }] } }, "user_message.content"],
    [{ user_message: { id: "u", files: [{ name: "\ud800" }] } }, "user_message.files.0.name"],
    [{ user_message: { id: "u", "\u0000": 1 } }, "user_message"],
    [{ chat_variables: { tone: "\u0000" } }, "chat_variables.tone"],
  ])("%j", async (wrong, field) => {
    const { chatId, replyId } = await stage.makeChat();
    const answer = await stage.complete({ chat_id: chatId, id: replyId, ...wrong });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body.detail)).toContain(field);
  });

  it("a question and a reply with one id", async () => {
    const { chatId, replyId } = await stage.makeChat();
    const body = { chat_id: chatId, id: replyId, user_message: { id: replyId, content: "x" } };
    const { status, body: answer } = await stage.complete(body);
    expect([status, answer.detail]).toEqual([400, "user_message.id: a reply has the same id."]);
  });

  it("a reply that is no message of the assistant", async () => {
    const { chatId, userId } = await stage.makeChat();
    expect((await stage.complete({ chat_id: chatId, id: userId })).status).toBe(400);
  });

  it("a parent that would make a circle", async () => {
    const { chatId, userId, replyId } = await stage.makeChat();
    const below = randomUUID();
    await stage.complete({
      chat_id: chatId,
      id: randomUUID(),
      user_message: { id: below, content: "next", parentId: replyId },
    });
    await stage.ended(chatId);
    const circle = await stage.complete({ chat_id: chatId, id: replyId, user_message: { id: below } });
    expect(circle.status).toBe(400);
    expect((await stage.message(chatId, replyId)).parentId).toBe(userId);
  });
});
