import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { events } from "#kernel/services.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { connectPlain, type PlainClient, within } from "#test/support/sockets.ts";
import {
  chatClient,
  type ChatClient,
  conversation,
  chatServices,
  type ChatServices,
} from "../chats.fixture.ts";

let app: App;
let user: TestUser;
let me: ChatClient;
let socket: PlainClient;
let id: string;
const heard: unknown[] = [];

let services: ChatServices;
let stopListening: () => void;

beforeAll(async () => {
  app = await useApp();
  services = chatServices(app);
  stopListening = app.running
    .service(events)
    .on("message.event_received", ({ data }) => void heard.push(data));
  user = await app.user();
  me = chatClient(app, user.token);
  socket = await connectPlain(app.url, { token: user.token });
  await socket.sessionId();
});
afterAll(async () => {
  socket?.close();
  stopListening?.();
  await app?.close();
});
beforeEach(async () => {
  ({ id } = await me.make(conversation()));
});

const send = (type: string, data?: unknown, who = me) =>
  who.call(`POST /${id}/messages/a1/event`, { type, data });
const message = async (key = "a1") => (await me.read(id)).chat.history.messages[key];

describe("an event about a message", () => {
  it("reaches every client of the owner's, and nobody else's", async () => {
    const stranger = await connectPlain(app.url, { token: (await app.user()).token });
    await stranger.sessionId();
    const data = { description: `Looking ${randomUUID()}`, done: false };
    expect((await send("status", data)).body).toBe(true);
    const fits = (event: string, payload: { chat_id?: string }) =>
      event === "events" && payload.chat_id === id;
    expect(await socket.event(fits)).toEqual({
      chat_id: id,
      message_id: "a1",
      seq: null,
      instance_id: expect.any(String),
      data: { type: "status", data },
    });
    expect(await within(100, stranger.event(fits))).toBeUndefined();
    stranger.close();
    expect(heard).toContainEqual({ message_id: "a1", type: "status" });
  });

  it("is stored by the rules of its type", async () => {
    for (const [type, data] of [
      ["status", { description: "one", done: false }],
      ["status", { description: "two", done: true }],
      ["source", { source: { name: "a" }, document: ["text"], metadata: [{ source: "a" }] }],
      ["citation", { type: "code_execution", id: "x" }],
      ["files", { files: [{ type: "image", url: "/1", name: "1" }] }],
      ["files", { files: [{ type: "image", url: "/2", name: "2" }] }],
      ["chat:message:files", { files: [{ type: "image", url: "/3", name: "3" }] }],
      ["embeds", { embeds: ["<i>1</i>"] }],
      ["embeds", { embeds: ["<i>2</i>"] }],
      ["message", { content: " And more." }],
      ["chat:message:delta", { content: " Only shown." }],
      ["chat:message:follow_ups", { follow_ups: ["Why?"] }],
      ["chat:message:favorite", { favorite: true }],
      ["chat:message:error", { error: { content: "half of it" } }],
    ] as const) {
      expect((await send(type, data)).body, type).toBe(true);
    }
    expect(await message()).toMatchObject({
      content: "reply a1 And more.",
      statusHistory: [
        { description: "one", done: false },
        { description: "two", done: true },
      ],
      sources: [{ source: { name: "a" }, document: ["text"], metadata: [{ source: "a" }] }],
      files: [{ url: "/2" }, { url: "/1" }],
      embeds: ["<i>2</i>", "<i>1</i>"],
      followUps: ["Why?"],
      favorite: true,
      error: { content: "half of it" },
      done: true,
    });
    await send("replace", { content: "anew" });
    await send("embeds", { embeds: ["<i>3</i>"], replace: true });
    expect(await message()).toMatchObject({ content: "anew", embeds: ["<i>3</i>"] });
  });

  it("adds text to a message of blocks as a block", async () => {
    const content = [{ type: "text", text: "a" }];
    await me.call(`POST /${id}`, { chat: { history: { messages: { u1: { content } } } } });
    await me.call(`POST /${id}/messages/u1/event`, { type: "message", data: { content: "b" } });
    expect((await message("u1")).content).toEqual([...content, { type: "text", text: "b" }]);
  });

  it("names and tags the chat; tags that are there stay", async () => {
    await me.call(`POST /${id}/tags`, { name: "Mine" });
    await send("chat:title", { title: "The moon" });
    await send("chat:tags", ["Space Travel", "none", "mine"]);
    const chat = await me.read(id);
    expect([chat.title, chat.chat.title]).toEqual(["The moon", "The moon"]);
    expect(chat.meta.tags).toEqual(["mine", "space_travel"]);
  });

  it("loses nothing when many come at once", async () => {
    const all = Array.from({ length: 40 }, (_, at) => at);
    await Promise.all(all.map((at) => send("status", { at })));
    const { statusHistory } = await message();
    expect(
      statusHistory.map(({ at }: { at: number }) => at).toSorted((a: number, b: number) => a - b),
    ).toEqual(all);
  });
});

describe("an event is refused", () => {
  it.each<[string, string, unknown, number, RegExp]>([
    ["data that its type does not have", "status", "done", 400, /status is no object/],
    ["a question, which nobody could answer", "execute", { code: "1" }, 400, /waits for an answer/],
    ["no type", "", {}, 422, /type/],
    ["more than a megabyte", "status", { text: "x".repeat(1024 * 1024) }, 413, /./],
  ])("with %s", async (_what, type, data, status, text) => {
    const answer = await send(type, data);
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(text);
    expect(await message()).not.toHaveProperty("statusHistory");
  });

  it("by a message that is full", async () => {
    const statusHistory = Array.from({ length: 1000 }, () => ({ done: true }));
    await me.call(`POST /${id}`, { chat: { history: { messages: { a1: { statusHistory } } } } });
    const answer = await send("status", { done: false });
    expect(answer.status).toBe(413);
    expect(answer.body.detail).toMatch(/cannot hold more statuses.*1,000 entries/);
  });

  it("for a message or chat that is not there, or somebody else's", async () => {
    const stranger = chatClient(app, (await app.user()).token);
    const foreign = await send("status", { done: true }, stranger);
    const absent = await stranger.call(`POST /${randomUUID()}/messages/a1/event`, {
      type: "status",
      data: {},
    });
    expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    expect((await me.call(`POST /${id}/messages/ghost/event`, { type: "status", data: {} })).status).toBe(
      404,
    );
    expect(await message()).not.toHaveProperty("statusHistory");
  });
});

describe("an event of an administrator", () => {
  it("reaches the owner and changes nothing: only owners write chats", async () => {
    const admin = chatClient(app, (await app.admin()).token);
    const data = { description: `From above ${randomUUID()}` };
    expect((await send("status", data, admin)).body).toBe(false);
    const content = { type: "info", content: "Maintenance at noon." };
    expect((await send("notification", content, admin)).body).toBe(true);
    await socket.event((_event, payload) => payload.data?.data?.description === data.description);
    await socket.event((_event, payload) => payload.data?.data?.content === content.content);
    expect(await message()).not.toHaveProperty("statusHistory");
  });
});

describe("an event about a message that is being written", () => {
  it("leaves its text to the run, and only that", async () => {
    const runId = randomUUID();
    expect(await services.replies.begin({ chatId: id, messageId: "a1", runId, keeps: true })).toBe(0);
    expect((await send("message", { content: " more" })).body).toBe(false);
    expect((await send("replace", { content: "else" })).body).toBe(false);
    expect((await send("status", { done: false })).body).toBe(true);
    await services.replies.finish({
      chatId: id,
      messageId: "a1",
      runId,
      seq: 1,
      state: { content: "written" },
    });
    expect(await message()).toMatchObject({ content: "written", statusHistory: [{ done: false }] });
    expect((await send("message", { content: " more" })).body).toBe(true);
    expect((await message()).content).toBe("written more");
  });
});

describe("other plugins store events", () => {
  it("for the owner alone, and leave temporary chats alone", async () => {
    const [owner, other] = await Promise.all([
      services.accounts.principalOf(user.id),
      services.accounts.principalOf((await app.user()).id),
    ]);
    const event = { type: "status", data: { done: true, text: "\u0000half \ud800" } };
    const place = { chatId: id, messageId: "a1" };
    expect(await services.replies.applyEvent(other!, place, event)).toBe(false);
    expect(await services.replies.applyEvent(other!, place, { type: "chat:title", data: "mine" })).toBe(
      false,
    );
    expect(await services.replies.applyEvent(other!, place, { type: "chat:tags", data: ["mine"] })).toBe(
      false,
    );
    expect(
      await services.replies.applyEvent(other!, place, { type: "replace", data: { content: "mine" } }),
    ).toBe(false);
    expect(await services.replies.applyEvent(owner!, { ...place, chatId: "temporary:x" }, event)).toBe(false);
    expect(await services.replies.applyEvent(owner!, place, event)).toBe(true);
    const chat = await me.read(id);
    expect(chat).toMatchObject({ title: "A chat", meta: {} });
    expect(chat.chat.history.messages.a1).toMatchObject({
      content: "reply a1",
      statusHistory: [{ done: true }],
    });
  });
});
