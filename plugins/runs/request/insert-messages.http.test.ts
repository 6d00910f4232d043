import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { text, tokens } from "#test/support/upstream-scripts.ts";
import { fromAssistant, fromSystem, fromUser, textPart } from "#test/support/wire-parts.ts";
import { type RunStage, startRunStage } from "../runs.fixture.ts";

let stage: RunStage;

beforeAll(async () => {
  stage = await startRunStage();
});
afterAll(() => stage?.close());

const path = "/chat/completions";

it("a chat that the server makes without a question holds all that was said, and the model gets it", async () => {
  const messages = [fromSystem("Be brief"), fromUser("One"), fromAssistant("Two"), fromUser("Three")];
  const asked = stage.upstream.nextRequest((request) => request.body?.messages?.at(-1)?.content === "Three");
  stage.upstream.reply(path, text("Four"));
  const { body } = await stage.complete({ parent_id: null, messages });
  expect((await asked).body.messages).toEqual(messages);
  await stage.ended(body.chat_id);
  const { history } = (await stage.read(body.chat_id)).chat;
  const branch: { role: string; content: string }[] = [];
  for (let id = history.currentId; id; id = history.messages[id].parentId) {
    branch.unshift(history.messages[id]);
  }
  expect(branch.map(({ role, content }) => [role, content])).toEqual([
    ["user", "One"],
    ["assistant", "Two"],
    ["user", "Three"],
    ["assistant", "Four"],
  ]);
  const broken = await stage.complete({ parent_id: null, messages: [fromUser("\u0000")] });
  expect([broken.status, broken.body.detail]).toEqual([400, expect.stringContaining("messages")]);
});

// Contract D.16: a message of another chat is unknown, and nothing is written.
it("a chat that the server makes takes no message of another chat", async () => {
  const { userId, replyId } = await stage.makeChat();
  const question = { id: randomUUID(), content: "x" };
  const count = async () => (await stage.user.call("GET /api/v1/chats/all")).body.length as number;
  const before = await count();
  const wrong: object[] = [
    { id: replyId, user_message: question },
    { id: randomUUID(), user_message: { ...question, id: userId } },
    { id: randomUUID(), user_message: { ...question, parentId: replyId } },
  ];
  for (const body of wrong) {
    expect((await stage.complete({ parent_id: null, ...body })).status).toBe(404);
  }
  expect(await count()).toBe(before);
});

it("two replies that bring the same new question at once both stand below it", async () => {
  stage.upstream.always(path, text("Hello"));
  for (let round = 0; round < 5; round++) {
    const { chatId, replyId } = await stage.makeChat();
    const user_message = { id: randomUUID(), content: "Both?", parentId: replyId };
    const ids = [randomUUID(), randomUUID()];
    const answers = await Promise.all(ids.map((id) => stage.complete({ chat_id: chatId, id, user_message })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await stage.ended(chatId);
    const { messages } = (await stage.read(chatId)).chat.history;
    expect(messages[user_message.id].childrenIds.toSorted()).toEqual(ids.toSorted());
  }
});

it("one temporary message has one run, however fast it is asked for again", async () => {
  stage.upstream.always(path, tokens(2_000, 10));
  const body = { chat_id: `temporary:${randomUUID()}`, id: randomUUID() };
  const answers = await Promise.all([stage.complete(body), stage.complete(body)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  await stage.user.call(`POST /api/tasks/chat/${body.chat_id}/stop`);
  await expect
    .poll(async () => (await stage.user.call("GET /api/tasks")).body.tasks, { timeout: 5_000 })
    .toEqual([]);
  expect((await stage.complete(body)).status).toBe(200);
  await stage.user.call(`POST /api/tasks/chat/${body.chat_id}/stop`);
});

// Core API, chat completion request: temporary:<uuid>.
it("a temporary chat without an id is refused", async () => {
  const answer = await stage.complete({ chat_id: "temporary:", id: randomUUID() });
  expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(/^chat_id: /)]);
});

it("a picture in the text of a question is a file of its chat", async () => {
  stage.upstream.always(path, text("Nice"));
  const form = new FormData();
  form.append("file", new Blob([Buffer.from("picture")], { type: "image/png" }), "a.png");
  const made = await stage.user.call("POST /api/v1/files/?process=false", form);
  const { chatId, replyId } = await stage.makeChat();
  const content = [
    textPart("See"),
    { type: "image_url", image_url: { url: `/api/v1/files/${made.body.id}/content` } },
  ];
  const user_message = { id: randomUUID(), content, parentId: replyId };
  await stage.complete({ chat_id: chatId, id: randomUUID(), user_message });
  await stage.ended(chatId);
  const { rows } = await stage.app.running.database.query(
    "select message_id from chat_file where chat_id = $1 and file_id = $2",
    [chatId, made.body.id],
  );
  expect(rows).toEqual([{ message_id: user_message.id }]);
});

it("a chat that the server makes names each model once, and keeps no picture among its files", async () => {
  stage.upstream.always(path, text("Hello"));
  const file = { type: "file", id: randomUUID(), name: "a.txt" };
  const picture = { type: "image", url: "https://example.test/a.png" };
  const user_message = { id: randomUUID(), content: "Look", files: [file, picture] };
  const message_ids = [1, 2].map(() => ({ model_id: "alpha", message_id: randomUUID() }));
  const { body } = await stage.complete({ parent_id: null, user_message, message_ids });
  await stage.ended(body.chat_id);
  const { chat } = await stage.read(body.chat_id);
  expect([chat.models, chat.files]).toEqual([["alpha"], [file]]);
});
