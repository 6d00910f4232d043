import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { chatClient, type ChatClient, conversation } from "./chats.fixture.ts";

let app: App;
let me: ChatClient;

beforeAll(async () => {
  app = await useApp();
  me = chatClient(app, (await app.user()).token);
});
afterAll(() => app?.close());

it("changes a message only where it says what is expected, and tells what it says else", async () => {
  const { id, chat } = await me.make(conversation());
  const [message] = Object.values(chat.history.messages) as { id: string; content: string }[];
  const { id: messageId, content } = message as { id: string; content: string };
  const write = (body: object) => me.call(`POST /${id}/messages/${messageId}`, body);
  expect((await write({ content: "Left", expected: content })).status).toBe(200);
  const late = await write({ content: "Right", expected: content });
  expect(late.status).toBe(409);
  expect(late.body).toEqual({ detail: { message: "The message was changed meanwhile.", content: "Left" } });
  expect((await me.read(id)).chat.history.messages[messageId].content).toBe("Left");

  const parts = [
    { type: "text", text: "One" },
    { type: "text", text: "Two" },
  ];
  expect((await write({ content: parts, expected: "Left" })).status).toBe(200);
  expect((await write({ content: "Three", expected: "One" })).body.detail.content).toEqual(parts);
  expect((await write({ content: "Three", expected: "One\nTwo" })).status).toBe(200);
  expect((await write({ content: "Four" })).status).toBe(200);
});

it("lets one of two edits that expect the same text through", async () => {
  const { id, chat } = await me.make(conversation());
  const [message] = Object.values(chat.history.messages) as { id: string; content: string }[];
  const path = `POST /${id}/messages/${message?.id}`;
  const edits = ["a", "b", "c", "d"].map((content) => me.call(path, { content, expected: message?.content }));
  const statuses = (await Promise.all(edits)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 409, 409, 409]);
});

it("pins and archives to a state however often it is asked, and turns it round without one", async () => {
  const { id } = await me.make(conversation());
  const state = async (path: string, body?: object) => (await me.call(`POST /${id}/${path}`, body)).body;
  for (const [path, field] of [
    ["pin", "pinned"],
    ["archive", "archived"],
  ] as const) {
    expect((await state(path, { [field]: true }))[field]).toBe(true);
    expect((await state(path, { [field]: true }))[field]).toBe(true);
    expect((await state(path, { [field]: false }))[field]).toBe(false);
    expect((await state(path))[field]).toBe(true);
    expect((await state(path, {}))[field]).toBe(false);
    expect((await me.call(`POST /${id}/${path}`, { [field]: "yes" })).status).toBe(422);
  }
});
