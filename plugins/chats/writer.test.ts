import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import {
  chatClient,
  type ChatClient,
  conversation,
  chatServices,
  type ChatServices,
  replied,
  said,
} from "./chats.fixture.ts";

let app: App;
let user: TestUser;
let me: ChatClient;

let services: ChatServices;

beforeAll(async () => {
  app = await useApp();
  services = chatServices(app);
  user = await app.user();
  me = chatClient(app, user.token);
});
afterAll(() => app?.close());

describe("messages are appended", () => {
  it("in one call, siblings after those that are there", async () => {
    const { id } = await me.make(conversation());
    await services.chats.append(id, [
      { id: "u2", role: "user", content: "Again?", parentId: "a1", timestamp: 1_700_000_009, odd: 1 },
      { id: "a2", role: "assistant", content: "", parentId: "u2", model: "guide" },
    ]);
    await services.chats.append(id, [{ id: "u3", role: "user", content: "Else?", parentId: "a1" }]);
    const { chat, current_message_id } = await me.read(id);
    expect(current_message_id).toBe("u3");
    expect(chat.history.messages.a1.childrenIds).toEqual(["u2", "u3"]);
    const { user: _user, user_id: _id, ...sent } = chat.history.messages.u2;
    expect(sent).toEqual({
      id: "u2",
      role: "user",
      content: "Again?",
      parentId: "a1",
      childrenIds: ["a2"],
      timestamp: 1_700_000_009,
      odd: 1,
    });
    expect(chat.history.messages.a2.done).toBe(false);
    const branch = await services.chats.branch(id, "a2");
    expect(branch.map((message) => message.id)).toEqual(["u1", "a1", "u2", "a2"]);
    expect((await services.chats.branch(id, "a2", { limit: 2 })).map((message) => message.id)).toEqual([
      "u2",
      "a2",
    ]);
    expect(await services.chats.branch(id, "ghost")).toEqual([]);
  });

  it("and are read from the last summary before the leaf on, where nothing before it is wanted", async () => {
    const { id } = await me.make(conversation());
    const turn = (n: number, more: object = {}) => [
      { id: `u${n}`, role: "user" as const, content: "?", parentId: `a${n - 1}` },
      { id: `a${n}`, role: "assistant" as const, content: "!", parentId: `u${n}`, ...more },
    ];
    await services.chats.append(
      id,
      [2, 3, 4].flatMap((n) => turn(n, n === 4 ? {} : { contextSummary: `up to ${n}` })),
    );
    await services.chats.append(id, turn(5, { contextSummary: " \n" }));
    await services.chats.append(id, turn(6, { contextSummary: "of everything" }));
    const read = async (leaf: string) =>
      (await services.chats.branch(id, leaf, { sinceSummary: true })).map((message) => message.id);
    expect(await read("a6")).toEqual(["a3", "u4", "a4", "u5", "a5", "u6", "a6"]);
    expect(await read("u3")).toEqual(["a2", "u3"]);
    expect(await read("a2")).toEqual(["u1", "a1", "u2", "a2"]);
    const [summed] = await services.chats.branch(id, "u3", { sinceSummary: true });
    expect(summed).toEqual({
      id: "a2",
      role: "assistant",
      content: "!",
      parentId: "u2",
      childrenIds: ["u3"],
      done: false,
      contextSummary: "up to 2",
    });
  });

  it("never twice, never below what is gone, never into a chat that is gone", async () => {
    const { id } = await me.make(conversation());
    const one = (more: object) => ({ id: "x", role: "user" as const, content: "x", parentId: "a1", ...more });
    await expect(services.chats.append(id, [one({ id: "u1" })])).rejects.toMatchObject({ code: "conflict" });
    await expect(services.chats.append(id, [one({ parentId: "ghost" })])).rejects.toMatchObject({
      code: "conflict",
    });
    await expect(services.chats.append(randomUUID(), [one({})])).rejects.toMatchObject({ code: "not_found" });
    expect(Object.keys((await me.read(id)).chat.history.messages)).toEqual(["u1", "a1"]);
  });
});

describe("a reply that a run writes", () => {
  let reply: { chatId: string; messageId: string; runId: string };
  beforeEach(async () => {
    const placeholder = replied("a1", "u1", { content: "", done: false });
    const { id } = await me.make({
      history: { currentId: "a1", messages: { u1: said("u1", "?"), a1: placeholder } },
    });
    reply = { chatId: id, messageId: "a1", runId: randomUUID() };
    expect(await services.replies.begin(reply)).toBe(0);
  });

  const message = async () => (await me.read(reply.chatId)).chat.history.messages.a1;

  it("grows by checkpoints and ends with its last state", async () => {
    expect(await services.replies.begin({ ...reply, runId: "another" })).toBeUndefined();
    const listed = (await me.call("GET /")).body as { id: string; active: boolean }[];
    expect(listed.filter(({ active }) => active).map(({ id }) => id)).toEqual([reply.chatId]);
    const output = [{ type: "message", content: [{ type: "output_text", text: "Hal\u0000f" }] }];
    const written = await services.replies.checkpoint([
      { ...reply, seq: 1, state: { content: "Half\ud800", output } },
      { ...reply, runId: "another", seq: 1, state: { content: "stolen" } },
    ]);
    expect([...written]).toEqual([reply.runId]);
    expect(await message()).toMatchObject({
      content: "Half\ufffd",
      done: false,
      output: [{ content: [{ text: "Half" }] }],
    });
    expect(
      await services.replies.finish({
        ...reply,
        seq: 1,
        state: { content: "Whole", usage: { total_tokens: 2 } },
      }),
    ).toBe(true);
    expect(await message()).toMatchObject({
      content: "Whole",
      done: true,
      usage: { total_tokens: 2 },
      output: [{}],
    });
    expect((await services.replies.checkpoint([{ ...reply, seq: 1, state: { content: "late" } }])).size).toBe(
      0,
    );
    expect((await message()).content).toBe("Whole");
    expect((await me.call("GET /search?text=whole")).body.length).toBe(1);
  });

  it("has one writer: others cannot change it until it ends, and what they have seen of it is ignored", async () => {
    await services.replies.checkpoint([{ ...reply, seq: 1, state: { content: "Half" } }]);
    for (const content of ["mine", [{ type: "text", text: "Half" }]]) {
      const chat = { title: "Not stored", history: { messages: { a1: { content } } } };
      const { status, body } = await me.call(`POST /${reply.chatId}`, { chat });
      expect([status, body.detail]).toEqual([409, "The message a1 is being written. Stop the reply first."]);
    }
    expect((await me.read(reply.chatId)).title).toBe("A chat");
    for (const content of ["", "Ha", "Half and more"]) {
      const chat = { history: { messages: { a1: { content } } } };
      expect((await me.call(`POST /${reply.chatId}`, { chat })).status).toBe(200);
    }
    const a1 = { content: "Half", done: true, output: [], usage: {}, favorite: true };
    const sent = await me.call(`POST /${reply.chatId}`, { chat: { history: { messages: { a1 } } } });
    expect(sent.body.chat.history.messages.a1).toMatchObject({
      content: "Half",
      done: false,
      favorite: true,
    });
    expect(sent.body.chat.history.messages.a1.output).toBeUndefined();
    for (const [route, body] of [
      [`POST /${reply.chatId}/messages/a1`, { content: "mine" }],
      [`DELETE /${reply.chatId}/messages/a1`, undefined],
      [`POST /${reply.chatId}/fork`, {}],
      [`POST /${reply.chatId}/clone`, {}],
    ] as const) {
      expect([route, (await me.call(route, body)).status]).toEqual([route, 409]);
    }
    await services.replies.finish({ ...reply, seq: 1, state: {} });
    expect((await me.call(`POST /${reply.chatId}/messages/a1`, { content: "mine" })).status).toBe(200);
  });

  it("keeps its partial text when its run is gone", async () => {
    await services.replies.checkpoint([{ ...reply, seq: 1, state: { content: "Half" } }]);
    expect(await services.replies.interrupt([reply])).toEqual([
      { ...reply, userId: user.id, chat: { title: expect.any(String), folderId: null }, seq: 100_001 },
    ]);
    expect(await message()).toMatchObject({ content: "Half", done: true, error: { content: "interrupted" } });
    expect(await services.replies.interrupt([reply])).toEqual([]);
  });

  it("ends once, and its run learns so however often it asks", async () => {
    const last = { ...reply, seq: 3, state: { content: "Whole" } };
    expect([await services.replies.finish(last), await services.replies.finish(last)]).toEqual([true, true]);
    expect(await services.replies.finish({ ...last, runId: randomUUID() })).toBe(false);
    const next = { ...reply, runId: randomUUID() };
    expect(await services.replies.begin(next)).toBe(3);
    expect(await services.replies.finish(last)).toBe(false);
    expect(await services.replies.finish({ ...next, seq: 4, state: { content: "Anew" } })).toBe(true);
    expect(await services.replies.finish(last)).toBe(false);
    expect(await message()).toMatchObject({ content: "Anew", done: true });
  });

  it("takes new entries of its lists once, and keeps those of others", async () => {
    const status = (description: string) => ({ description, done: true });
    const lists = { statusHistory: [status("one")], files: [{ name: "a" }], embeds: ["<i>1</i>"] };
    const numbers = { statusHistory: [1], files: [2], embeds: [3] };
    await services.replies.checkpoint([{ ...reply, seq: 3, state: lists, numbers }]);
    await services.replies.applyEvent((await services.accounts.principalOf(user.id))!, reply, {
      type: "status",
      data: status("two"),
    });
    // The acknowledgement of the first was lost: what it held comes again with what is new.
    const more = {
      statusHistory: [status("one"), status("three")],
      files: [{ name: "b" }, { name: "a" }],
      embeds: ["<i>1</i>"],
    };
    const moreNumbers = { statusHistory: [1, 5], files: [4, 2], embeds: [3] };
    await services.replies.checkpoint([{ ...reply, seq: 5, state: more, numbers: moreNumbers }]);
    await services.replies.finish({ ...reply, seq: 6, state: { sources: [{ document: [] }] } });
    expect(await message()).toMatchObject({
      statusHistory: [status("one"), status("two"), status("three")],
      files: [{ name: "b" }, { name: "a" }],
      embeds: ["<i>1</i>"],
      sources: [{ document: [] }],
    });
    // What is written anew begins with nothing of that.
    await services.replies.begin({ ...reply, runId: randomUUID() });
    const anew = await message();
    expect([anew.statusHistory, anew.files, anew.embeds, anew.sources]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("has no items that are still being written, or waiting, once its run is gone", async () => {
    const output = [
      { type: "message", id: "m", status: "completed" },
      { type: "function_call", id: "a", status: "pending", approval: { status: "pending", expires_at: 9 } },
      { type: "function_call", id: "b", status: "in_progress", approval: { status: "allowed" } },
    ];
    await services.replies.checkpoint([{ ...reply, seq: 1, state: { output } }]);
    await services.replies.interrupt([reply]);
    expect((await message()).output).toEqual([
      output[0],
      { type: "function_call", id: "a", status: "completed", approval: { status: "cancelled" } },
      { type: "function_call", id: "b", status: "completed", approval: { status: "allowed" } },
    ]);
  });

  it("of a run that never began is interrupted as well; one that another run has, or that is done, is not", async () => {
    const gone = { ...reply, runId: randomUUID() };
    expect(await services.replies.interrupt([gone])).toEqual([]);
    await services.replies.finish({ ...reply, seq: 1, state: { content: "Whole" } });
    expect(await services.replies.interrupt([gone])).toEqual([]);
    expect(await message()).toMatchObject({ content: "Whole", done: true });
    const placeholder = { id: "a2", role: "assistant" as const, content: "", parentId: "u1", done: false };
    await services.chats.append(reply.chatId, [placeholder]);
    const lost = { ...reply, messageId: "a2", runId: randomUUID() };
    expect(await services.replies.interrupt([{ ...lost, chatId: randomUUID() }])).toEqual([]);
    expect(await services.replies.interrupt([lost])).toMatchObject([{ ...lost, userId: user.id }]);
    expect((await me.read(reply.chatId)).chat.history.messages.a2).toMatchObject({
      done: true,
      error: { content: "interrupted" },
    });
  });

  it("is nobody's any more when the chat is deleted", async () => {
    expect((await me.call(`DELETE /${reply.chatId}`)).body).toBe(true);
    expect((await services.replies.checkpoint([{ ...reply, seq: 1, state: { content: "x" } }])).size).toBe(0);
  });
});

it("only the owner gets a chat to write into", async () => {
  const made = await me.make(conversation(), { variables: { a: "b" } });
  const [owner, admin] = [
    await services.accounts.principalOf(user.id),
    await services.accounts.principalOf((await app.admin()).id),
  ];
  const facts = await services.chats.require(owner!, made.id);
  expect(facts).toMatchObject({
    id: made.id,
    current_message_id: "a1",
    variables: { a: "b" },
    chat: { models: ["guide"] },
  });
  await expect(services.chats.require(admin!, made.id)).rejects.toMatchObject({ code: "not_found" });
  await expect(services.chats.require(owner!, randomUUID())).rejects.toMatchObject({ code: "not_found" });
});
