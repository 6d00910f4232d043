import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatServices, type ChatServices } from "#plugins/chats/chats.fixture.ts";
import { outlets, probes } from "#plugins/completions/reply/probes.fixture.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { sse, text, tokens } from "#test/support/upstream-scripts.ts";
import { eventsOf, type RunStage, startRunStage } from "../runs.fixture.ts";

let stage: RunStage;

let services: ChatServices;

beforeAll(async () => {
  stage = await startRunStage({ plugins: [probes] });
  services = chatServices(stage.app);
});
afterAll(() => stage?.close());

const path = "/chat/completions";
const isDelta = (id: string) => (_: string, data: { message_id?: string; data?: { type?: string } }) =>
  data?.message_id === id && data.data?.type === "chat:message:delta";

async function startSlow(count = 200, every = 20) {
  const client = await stage.connect();
  const chat = await stage.makeChat();
  stage.upstream.reply(path, tokens(count, every));
  const { body } = await stage.complete({ chat_id: chat.chatId, id: chat.replyId });
  await client.event(isDelta(chat.replyId));
  return { ...chat, client, taskId: body.task_ids[0] as string };
}

describe("a run under way", () => {
  it("is listed, stops when asked, and keeps what it wrote", async () => {
    const { chatId, replyId, client, taskId } = await startSlow();
    const call = (route: string, token = stage.user.token) => stage.app.call(route, { token });
    expect((await call(`GET /api/tasks/chat/${chatId}`)).body).toEqual({ task_ids: [taskId] });
    expect((await call("GET /api/tasks")).body.tasks).toContain(taskId);
    const stranger = await stage.app.user();
    for (const route of [`GET /api/tasks/chat/${chatId}`, `POST /api/tasks/chat/${chatId}/stop`]) {
      expect((await call(route, stranger.token)).status).toBe(404);
    }
    expect((await call("GET /api/tasks", stranger.token)).status).toBe(403);
    expect((await call(`POST /api/tasks/stop/${taskId}`, stranger.token)).status).toBe(403);
    expect((await call(`GET /api/tasks/chat/${chatId}`)).body.task_ids).toEqual([taskId]);
    const stopped = await call(`POST /api/tasks/chat/${chatId}/stop`);
    expect(stopped.body).toMatchObject({ status: true, task_ids: [taskId] });
    await stage.ended(chatId);
    await stage.upstream.socketsAtMost(0);
    const reply = await stage.message(chatId, replyId);
    expect(reply.content).toMatch(/^t0 /);
    expect(reply).toMatchObject({ done: true });
    expect(reply.error).toBeUndefined();
    await client.event((_, data) => data?.message_id === replyId && data.data.type === "chat:tasks:cancel");
    expect((await call(`POST /api/tasks/stop/${taskId}`)).status).toBe(404);
  });

  it("of a temporary chat is its owner's, also when somebody else has come upon the same id", async () => {
    const { token } = stage.user;
    const grants = [{ principal_type: "user", principal_id: "*", permission: "read" }];
    const model = { id: "beta", name: "beta", base_model_id: null, meta: {}, params: {} };
    await stage.app.call("POST /api/v1/models/create", { token, body: { ...model, access_grants: grants } });
    const [other, third] = [await stage.app.user(), await stage.app.user()];
    const chatId = `temporary:${randomUUID()}`;
    const start = async (who: string) => {
      stage.upstream.reply(path, tokens(200, 20));
      const body = { chat_id: chatId, id: randomUUID(), model: "beta" };
      return (await stage.complete(body, who)).body.task_ids[0] as string;
    };
    const [mine, theirs] = [await start(token), await start(other.token)];
    const call = (route: string, who: string) => stage.app.call(`${route}`, { token: who });
    const list = `GET /api/tasks/chat/${chatId}`;
    expect((await call(list, token)).body).toEqual({ task_ids: [mine] });
    expect((await call(list, third.token)).status).toBe(404);
    expect((await call(`POST /api/tasks/chat/${chatId}/stop`, token)).body.task_ids).toEqual([mine]);
    await expect.poll(async () => (await call("GET /api/tasks", token)).body.tasks).not.toContain(mine);
    expect((await call(list, other.token)).body).toEqual({ task_ids: [theirs] });
    await call(`POST /api/tasks/chat/${chatId}/stop`, other.token);
    await expect.poll(async () => (await call(list, other.token)).body).toEqual({ task_ids: [] });
  });

  it("tells at its end what the chat is called by then", async () => {
    const { chatId, replyId, client } = await startSlow(30);
    await stage.user.call(`POST /api/v1/chats/${chatId}`, { chat: { title: "Renamed" } });
    const end = await client.event(
      (_, data) => data?.message_id === replyId && data.data.data?.done === true,
    );
    expect(end.data.data.title).toBe("Renamed");
    await stage.ended(chatId);
  });

  it("has its message to itself", async () => {
    const { chatId, replyId } = await startSlow();
    const again = await stage.complete({ chat_id: chatId, id: replyId });
    expect(again.status).toBe(409);
    const patch = { chat: { history: { messages: { [replyId]: { content: "", favorite: true } } } } };
    await stage.user.call(`POST /api/v1/chats/${chatId}`, patch);
    await stage.user.call(`POST /api/tasks/chat/${chatId}/stop`);
    await stage.ended(chatId);
    const reply = await stage.message(chatId, replyId);
    expect(reply.content).toMatch(/^t0 /);
    expect(reply.favorite).toBe(true);
  });

  it("of another replica keeps its message: what was put beside it does not stay open", async () => {
    const { chatId, replyId } = await stage.makeChat();
    const [runId, fresh] = [randomUUID(), randomUUID()];
    await services.replies.begin({ chatId, messageId: replyId, runId });
    const client = await stage.connect();
    const message_ids = [fresh, replyId].map((message_id) => ({ model_id: "alpha", message_id }));
    expect((await stage.complete({ chat_id: chatId, message_ids })).status).toBe(409);
    expect(await stage.message(chatId, fresh)).toMatchObject({
      done: true,
      error: { content: "interrupted" },
    });
    await client.event((_, data) => data?.message_id === fresh && data.data.data?.done === true);
    expect(await stage.message(chatId, replyId)).toMatchObject({ done: false });
    expect((await stage.complete({ chat_id: chatId, id: replyId })).status).toBe(409);
    expect(await services.replies.finish({ chatId, messageId: replyId, runId, seq: 1, state: {} })).toBe(
      true,
    );
    expect((await stage.user.call(`GET /api/tasks/chat/${chatId}`)).body.task_ids).toEqual([]);
  });

  it("ends when its chat is deleted", async () => {
    const { chatId } = await startSlow();
    await stage.user.call(`DELETE /api/v1/chats/${chatId}`);
    await stage.upstream.socketsAtMost(0);
    const tasks = async () => (await stage.user.call("GET /api/tasks")).body.tasks as string[];
    await expect.poll(tasks).toEqual([]);
  });

  it("answers a client that comes back with what it missed, or with the whole message", async () => {
    const { chatId, replyId, client } = await startSlow(40, 20);
    const resume = (seq: number) => client.emit("chat:resume", { chat_id: chatId, message_id: replyId, seq });
    const missed = await resume(1);
    expect(missed.from).toBe(2);
    expect(missed.events.map(({ seq }: { seq: number }) => seq)).toEqual(
      Array.from({ length: missed.to - 1 }, (_, at) => at + 2),
    );
    await stage.ended(chatId);
    const late = await resume(1);
    expect(late.snapshot).toMatchObject({ id: replyId, done: true });
    expect(await resume(late.seq)).toEqual({ from: late.seq + 1, to: late.seq, events: [] });
    expect(
      await client.emit("chat:resume", { chat_id: randomUUID(), message_id: replyId, seq: 0 }),
    ).toMatchObject({ code: "not_found" });
    expect(late.seq).toBe(Math.max(...eventsOf(client, replyId).map(({ seq }) => seq)));
  });

  it("shows a client that missed too much what others added as well", async () => {
    const { chatId, replyId, client } = await startSlow();
    const send = (type: string, data: unknown) =>
      stage.user.call(`POST /api/v1/chats/${chatId}/messages/${replyId}/event`, { type, data });
    await send("status", { description: "Looking", done: true });
    await send("embeds", { embeds: ["<i>1</i>"] });
    const beyond = { chat_id: chatId, message_id: replyId, seq: 1_000_000 };
    const { snapshot, seq } = await client.emit("chat:resume", beyond);
    expect(snapshot).toMatchObject({
      id: replyId,
      done: false,
      statusHistory: [{ description: "Looking", done: true }],
      embeds: ["<i>1</i>"],
      model: "alpha",
      content: expect.stringMatching(/^t0 /),
    });
    expect(seq).toBeGreaterThan(0);
    await stage.user.call(`POST /api/tasks/chat/${chatId}/stop`);
    await stage.ended(chatId);
  });

  it("goes on where a stopped reply ended, and its events are numbered on", async () => {
    const { chatId, replyId, userId, client } = await startSlow();
    await stage.user.call(`POST /api/tasks/chat/${chatId}/stop`);
    await stage.ended(chatId);
    const { content } = await stage.message(chatId, replyId);
    const last = Math.max(...eventsOf(client, replyId).map(({ seq }) => seq));
    stage.upstream.reply(path, text("and the rest"));
    const asked = stage.upstream.nextRequest((request) => request.body?.messages?.length === 2);
    const more = { assistant_message_id: replyId, user_message: { id: userId } };
    await stage.complete({ chat_id: chatId, ...more });
    expect((await asked).body.messages.at(-1)).toEqual({ role: "assistant", content });
    await stage.ended(chatId);
    expect((await stage.message(chatId, replyId)).content).toBe(`${content}and the rest`);
    const later = eventsOf(client, replyId).map(({ seq }) => seq);
    expect(later).toEqual(later.map((_, at) => at + 1));
    expect(later.length).toBeGreaterThan(last);
  });
});

describe("what filters do", () => {
  it("outlet filters change the stored message and tell the socket; the words before stay", async () => {
    const client = await stage.connect();
    const { chatId, replyId, userId } = await stage.makeChat("Question");
    stage.upstream.reply(path, text("Answer"));
    outlets.length = 0;
    await stage.complete({
      chat_id: chatId,
      id: replyId,
      user_message: { id: userId },
      filter_ids: ["keep", "mark"],
    });
    await stage.ended(chatId);
    expect(outlets[0]?.messages).toMatchObject([
      { id: userId, role: "user", content: "Question" },
      { id: replyId, role: "assistant", content: "<Answer>" },
    ]);
    const reply = await stage.message(chatId, replyId);
    expect(reply).toMatchObject({
      content: "filtered",
      originalContent: "<Answer>",
      output: [{ content: [{ text: "filtered" }] }],
    });
    const told = eventsOf(client, replyId).find(({ data }) => data.type === "chat:outlet");
    expect(told.data.data.messages.at(-1)).toMatchObject({ id: replyId, content: "filtered" });
  });

  it("an inlet that refuses ends the run with its words", async () => {
    const { chatId, replyId } = await stage.makeChat();
    await stage.complete({ chat_id: chatId, id: replyId, filter_ids: ["refuse"] });
    await stage.ended(chatId);
    expect(await stage.message(chatId, replyId)).toMatchObject({
      done: true,
      error: { content: "This question is not allowed." },
    });
  });
});

it("an upstream that breaks off leaves what it said, and an error", async () => {
  const { chatId, replyId } = await stage.makeChat();
  const frames = textChunks(["One ", "two "]).slice(0, 3);
  stage.upstream.reply(
    path,
    sse([...frames, { error: { message: "overloaded", code: 529 } }], { done: false }),
  );
  await stage.complete({ chat_id: chatId, id: replyId });
  await stage.ended(chatId);
  const reply = await stage.message(chatId, replyId);
  expect(reply.content).toBe("One two ");
  expect(reply.error.content).toContain("overloaded");
});
