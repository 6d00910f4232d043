import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grant } from "#plugins/folders/folders.fixture.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import {
  chatClient,
  type ChatClient,
  chatServices,
  type ChatServices,
  replied,
  said,
} from "../chats.fixture.ts";

let app: App;
let reader: TestUser;
let me: ChatClient;

let services: ChatServices;

beforeAll(async () => {
  app = await useApp();
  services = chatServices(app);
  me = chatClient(app, (await app.admin()).token);
  reader = await app.user();
});
afterAll(() => app?.close());

describe("a reply that is being written", () => {
  /** A chat with a run that is in the middle of its reply. */
  async function growing(): Promise<string> {
    const a1 = replied("a1", "u1", { content: "", done: false });
    const { id } = await me.make({ history: { currentId: "a1", messages: { u1: said("u1", "?"), a1 } } });
    const reply = { chatId: id, messageId: "a1", runId: randomUUID() };
    await services.replies.begin(reply);
    const output = [
      { type: "message", id: "m1", status: "completed", content: [{ type: "output_text", text: "One" }] },
      { type: "function_call", id: "f1", status: "pending", approval: { status: "pending", expires_at: 1 } },
      { type: "message", id: "m2", status: "in_progress", content: [{ type: "output_text", text: "Tw" }] },
    ];
    await services.replies.checkpoint([{ ...reply, seq: 1, state: { content: "One\nTw", output } }]);
    return id;
  }

  const settled = {
    done: true,
    content: "One\nTw",
    output: [
      { id: "m1", status: "completed" },
      { id: "f1", status: "completed", approval: { status: "cancelled" } },
      { id: "m2", status: "completed", content: [{ text: "Tw" }] },
    ],
  };

  it("is done in what others see of it, and in their copies", async () => {
    const id = await growing();
    const link = (await me.call(`POST /${id}/share`)).body.share_id;
    const anyone = { principal_type: "anyone", principal_id: "*", permission: "read" };
    await me.call(`POST /shared/${id}/access/update`, { access_grants: [grant(reader.id), anyone] });
    const theirs = chatClient(app, reader.token);
    const { chat } = (await theirs.call(`GET /share/${link}`)).body;
    const copy = (await theirs.call(`POST /${link}/clone/shared`)).body;
    for (const one of [chat, copy.chat]) {
      expect(one.history.messages.a1).toMatchObject(settled);
      expect(one.messages[1]).toEqual(one.history.messages.a1);
      expect(one.messages[0].done).toBeUndefined();
    }
    const open = (await chatClient(app, undefined).call(`GET /share/${link}`)).body.chat;
    expect(open.history.messages.a1).toMatchObject({ done: true, output: [{}, { status: "completed" }] });
    expect((await me.read(id)).chat.history.messages.a1.done).toBe(false);
  });

  it("is done in what is imported", async () => {
    const { chat } = await me.read(await growing());
    const { done: _done, ...placeholder } = replied("a1", "u1", { content: "" });
    const other = { title: "x", history: { messages: { u1: said("u1", "?"), a1: placeholder } } };
    const { body } = await me.call("POST /import", { chats: [{ chat }, { chat: other }] });
    expect((await me.read(body[0].id)).chat.history.messages.a1).toMatchObject(settled);
    expect((await me.read(body[1].id)).chat.history.messages.a1.done).toBe(true);
  });
});

describe("an import", () => {
  it("gives messages without a known role one that fits their place", async () => {
    const messages = {
      c: { content: "of a tool", role: "tool", parentId: "b" },
      b: { content: "an answer", parentId: "a" },
      a: { content: "a question", parentId: "s" },
      s: { content: "rules", role: "system" },
      d: replied("d", "gone", { role: 5 }),
    };
    const flat = {
      title: "flat",
      messages: [{ content: "1" }, { content: "2" }, { role: "user", content: "3" }],
    };
    const tree = { title: "tree", history: { currentId: "c", messages } };
    const { status, body } = await me.call("POST /import", { chats: [{ chat: tree }, { chat: flat }] });
    expect(status).toBe(200);
    const all = (await me.read(body[0].id)).chat.history.messages;
    const roles = Object.fromEntries(Object.keys(all).map((id) => [id, all[id].role]));
    expect(roles).toEqual({ s: "system", a: "user", b: "assistant", c: "user", d: "user" });
    const branch = (await me.read(body[1].id)).chat.messages;
    expect(branch.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "user"]);
  });

  it("takes a leaf that is not there for none, and names the chat that it cannot take", async () => {
    const empty = { chat: { title: "empty", history: { currentId: "ghost", messages: {} } } };
    const made = await me.call("POST /import", { chats: [empty] });
    expect([made.status, made.body[0]?.current_message_id]).toEqual([200, null]);
    const bad = { chat: { title: "bad", history: { messages: { a: 1 } } } };
    const { status, body } = await me.call("POST /import", { chats: [empty, bad] });
    expect([status, body.detail]).toEqual([400, "Chat 1 of the import: The message a is not an object."]);
  });
});
