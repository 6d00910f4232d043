import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
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
let me: ChatClient;

let services: ChatServices;

beforeAll(async () => {
  app = await useApp();
  services = chatServices(app);
  me = chatClient(app, (await app.user()).token);
});
afterAll(() => app?.close());

it("a placeholder that was sent with nulls names nothing twice once its run has ended", async () => {
  const nulls = { output: null, usage: null, sources: null, error: null, files: null, statusHistory: null };
  const only = { id: "a2", role: "assistant", parentId: "u1", usage: null };
  const messages = {
    u1: said("u1", "?"),
    a1: replied("a1", "u1", { content: null, done: false, odd: { usage: null }, ...nulls }),
    a2: only,
  };
  const { id, chat } = await me.make({ history: { currentId: "a1", messages } });
  expect(chat.history.messages.a1).toMatchObject({ content: null, done: false, ...nulls });
  const output = [{ type: "message", content: [{ type: "output_text", text: "Yes" }] }];
  const usage = { total_tokens: 3 };
  for (const messageId of ["a1", "a2"]) {
    const reply = { chatId: id, messageId, runId: randomUUID() };
    await services.replies.begin(reply);
    await services.replies.finish({
      ...reply,
      seq: 1,
      state: { content: "Yes", output, usage, sources: [{}] },
    });
  }
  const [{ text, body }, page] = [await me.call(`GET /${id}`), await me.call(`GET /${id}/messages`)];
  const { a1, a2 } = body.chat.history.messages;
  const after = { content: "Yes", output, usage, sources: [{}], done: true, error: null, files: null };
  expect(a1).toMatchObject({ ...after, odd: { usage: null }, modelIdx: 0 });
  expect(a2).toMatchObject({ content: "Yes", usage, done: true });
  for (const [key, value] of Object.entries({ usage: "null", done: "false", content: "null" })) {
    const twice = `"${key}": ${value},`;
    expect([key, text.includes(twice), page.text.includes(twice)]).toEqual([key, false, false]);
  }
  expect(page.body.messages.at(-1)).toEqual(a1);
});
