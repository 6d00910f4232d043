import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rateLimited, text } from "#test/support/upstream-scripts.ts";
import { eventsOf, type RunStage, startRunStage } from "./runs.fixture.ts";

let stage: RunStage;

beforeAll(async () => {
  stage = await startRunStage();
});
afterAll(() => stage?.close());

it("answers at once, writes the reply into the chat and tells the owner's sockets", async () => {
  const { chatId, replyId } = await stage.makeChat();
  const client = await stage.connect();
  stage.upstream.reply("/chat/completions", text("Hello there"));
  const answer = await stage.complete({ chat_id: chatId, id: replyId });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ status: true, task_ids: [expect.any(String)], chat_id: chatId });
  await stage.ended(chatId);
  const reply = await stage.message(chatId, replyId);
  expect(reply).toMatchObject({
    content: "Hello there",
    done: true,
    role: "assistant",
    output: [
      { type: "message", status: "completed", content: [{ type: "output_text", text: "Hello there" }] },
    ],
  });
  await client.event((_, data) => data?.data?.type === "chat:active" && data.data.data.active === false);
  const events = eventsOf(client, replyId);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  const deltas = events.filter(({ data }) => data.type === "chat:message:delta");
  expect(deltas.map(({ data }) => data.data.content).join("")).toBe("Hello there");
  expect(events.at(-1).data).toMatchObject({
    type: "chat:completion",
    data: { done: true, content: "Hello there", title: "A chat" },
  });
  expect(new Set(events.map(({ instance_id: id }) => typeof id))).toEqual(new Set(["string"]));
});

it("keeps a caller without a session waiting, and answers null", async () => {
  const { chatId, replyId } = await stage.makeChat();
  stage.upstream.reply("/chat/completions", text("Done"));
  const answer = await stage.complete({ chat_id: chatId, id: replyId, session_id: undefined });
  expect(answer.text).toBe("null");
  expect(await stage.message(chatId, replyId)).toMatchObject({ content: "Done", done: true });
});

it("reads the conversation of the stored branch, and keeps the sent system message", async () => {
  const { chatId, userId, replyId } = await stage.makeChat("First");
  stage.upstream.reply("/chat/completions", text("One"));
  await stage.complete({ chat_id: chatId, id: replyId, user_message: { id: userId } });
  await stage.ended(chatId);
  const [nextId, nextReply] = [randomUUID(), randomUUID()];
  stage.upstream.reply("/chat/completions", text("Two"));
  const asked = stage.upstream.nextRequest((request) => request.body?.messages?.length === 4);
  await stage.complete({
    chat_id: chatId,
    id: nextReply,
    messages: [
      { role: "system", content: "Be brief" },
      { role: "user", content: "ignored" },
    ],
    user_message: { id: nextId, content: "Second", parentId: replyId },
  });
  expect((await asked).body.messages).toEqual([
    { role: "system", content: "Be brief" },
    { role: "user", content: "First" },
    { role: "assistant", content: "One" },
    { role: "user", content: "Second" },
  ]);
  await stage.ended(chatId);
  const { chat } = await stage.read(chatId);
  expect(chat.history.currentId).toBe(nextReply);
  expect(chat.history.messages[nextId]).toMatchObject({ parentId: replyId, childrenIds: [nextReply] });
  expect(chat.history.messages[nextReply]).toMatchObject({
    parentId: nextId,
    content: "Two",
    model: "alpha",
  });
});

it("saves a reply without a user message with no parent", async () => {
  const { chatId } = await stage.makeChat();
  const id = randomUUID();
  stage.upstream.reply("/chat/completions", text("Alone"));
  await stage.complete({ chat_id: chatId, id });
  await stage.ended(chatId);
  expect(await stage.message(chatId, id)).toMatchObject({ parentId: null, content: "Alone" });
});

it("makes the chat itself when there is none, for several models at once", async () => {
  const user_message = { id: randomUUID(), content: "Compare" };
  const message_ids = [
    { model_id: "alpha", message_id: randomUUID() },
    { model_id: "beta", message_id: randomUUID() },
  ];
  stage.upstream.reply((request) => request.body?.model === "alpha", text("From alpha"));
  stage.upstream.reply((request) => request.body?.model === "beta", text("From beta"));
  const answer = await stage.complete({ parent_id: null, user_message, message_ids });
  expect(answer.body.task_ids.length).toBe(2);
  const chatId = answer.body.chat_id;
  await stage.ended(chatId);
  const { chat } = await stage.read(chatId);
  expect(chat.models).toEqual(["alpha", "beta"]);
  const { messages } = chat.history;
  expect(messages[user_message.id]).toMatchObject({
    content: "Compare",
    parentId: null,
    childrenIds: message_ids.map(({ message_id }) => message_id),
  });
  expect(message_ids.map(({ message_id }) => messages[message_id].content)).toEqual([
    "From alpha",
    "From beta",
  ]);
});

it("keeps models and files of a chat that is left to the server, and tells other windows of a new one", async () => {
  const client = await stage.connect();
  const file = { type: "file", id: randomUUID(), name: "a.txt" };
  const picture = { type: "image", url: "https://example.test/a.png" };
  const [first, second] = [randomUUID(), randomUUID()];
  stage.upstream.reply("/chat/completions", text("Hello"));
  const user_message = { id: first, content: "Look", files: [file] };
  const made = await stage.complete({ parent_id: null, user_message, id: `${first}-reply` });
  const { chat_id: chatId } = made.body;
  const told = await client.event((_, data) => data?.data?.type === "chat:list" && data.chat_id === chatId);
  expect(told.data.data).toEqual({ chat_id: chatId, folder_id: null });
  await stage.ended(chatId);
  const other = { ...file, id: randomUUID() };
  const question = { id: second, content: "And this?", files: [file, other, picture] };
  const next = { chat_id: chatId, parent_id: `${first}-reply`, user_message: question, model: "beta" };
  stage.upstream.reply("/chat/completions", text("Well"));
  await stage.complete({ ...next, id: `${second}-reply` });
  await stage.ended(chatId);
  const { chat } = await stage.read(chatId);
  expect([chat.models, chat.files]).toEqual([["beta"], [file, other]]);
  expect(chat.history.messages[second]).toMatchObject({ parentId: `${first}-reply`, files: question.files });
  // A caller who names no parent keeps the chat in order alone.
  stage.upstream.reply("/chat/completions", text("Hm"));
  const alone = {
    id: randomUUID(),
    content: "Else?",
    parentId: `${second}-reply`,
    files: [{ ...file, id: "x" }],
  };
  await stage.complete({ chat_id: chatId, user_message: alone, id: randomUUID() });
  await stage.ended(chatId);
  const after = (await stage.read(chatId)).chat;
  expect([after.models, after.files.length]).toEqual([["beta"], 2]);
});

it("persists nothing of a temporary chat, and shows it all over the socket", async () => {
  const client = await stage.connect();
  const [chatId, id] = [`temporary:${randomUUID()}`, randomUUID()];
  stage.upstream.reply("/chat/completions", text("Whispered"));
  const answer = await stage.complete({ chat_id: chatId, id });
  expect(answer.body.chat_id).toBe(chatId);
  await client.event((_, data) => data?.message_id === id && data.data.data?.done === true);
  await stage.ended(chatId);
  const listed = await stage.user.call("GET /api/v1/chats/all");
  expect(listed.text).not.toContain("Whispered");
});

it("keeps what a provider refuses on the message", async () => {
  const client = await stage.connect();
  const { chatId, replyId } = await stage.makeChat();
  stage.upstream.reply("/chat/completions", rateLimited({ message: "Slow down" }));
  expect((await stage.complete({ chat_id: chatId, id: replyId })).status).toBe(200);
  await stage.ended(chatId);
  expect(await stage.message(chatId, replyId)).toMatchObject({
    done: true,
    error: { content: "Slow down" },
  });
  const types = eventsOf(client, replyId).map(({ data }) => data.type);
  expect(types).toEqual(["chat:message:error", "chat:completion", "chat:tasks:cancel"]);
});

it("fills the inputs of a system prompt with what the chat keeps, the request over it", async () => {
  const system = "Be {{chat.variables.tone | select:default=calm}} in {{chat.variables.language}}.";
  const model = { id: "toned", name: "Toned", base_model_id: "alpha", meta: {}, params: { system } };
  expect((await stage.user.call("POST /api/v1/models/create", model)).status).toBe(200);
  const made = await stage.user.call("POST /api/v1/chats/new", {
    chat: { title: "T", models: ["toned"] },
    variables: { tone: "warm", language: "Latin" },
  });
  const asked = stage.upstream.nextRequest(
    (request) =>
      request.body?.messages?.[0]?.role === "system" && request.body.messages[0].content.startsWith("Be "),
  );
  stage.upstream.reply("/chat/completions", text("Salve"));
  const chat_variables = { language: "Greek" };
  await stage.complete({ chat_id: made.body.id, id: randomUUID(), model: "toned", chat_variables });
  expect((await asked).body.messages[0].content).toBe("Be warm in Greek.");
  await stage.ended(made.body.id);
});
