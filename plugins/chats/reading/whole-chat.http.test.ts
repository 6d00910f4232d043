import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import {
  type ChatClient,
  chatClient,
  chatServices,
  type ChatServices,
  replied,
  said,
  withoutAuthor,
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

const odd = 'Grüße "an" 世界 🌍\n\\ \u001f\u2028 </script>';
const all = {
  output: [{ type: "message", id: "m", content: [{ type: "output_text", text: odd }] }],
  files: [{ type: "note", id: odd }],
  sources: [{ source: { name: odd } }],
  embeds: [odd],
  meta: { odd },
  statusHistory: [{ description: odd, done: true }],
  error: { content: odd },
  usage: { total_tokens: 3, cost: 0.25 },
  contextSummary: odd,
  [odd]: { content: null, "": [1, true, null] },
};

interface Shown {
  history: { messages: Record<string, unknown> };
  messages: unknown[];
}

/** Chats that are read at once, and those that are read a part at a time. */
it.each([
  ["short", 10],
  ["long", 1_700_000],
])("a %s chat comes back as it was sent, a reply that grows among it", async (_what, size) => {
  const messages = {
    u1: said("u1", odd.padEnd(size, "x"), { childrenIds: ["a1", "a2"], parentId: null }),
    a1: replied("a1", "u1", { ...all, content: odd.padEnd(size, "y"), childrenIds: ["u2"] }),
    a2: replied("a2", "u1", { content: null, done: false, model: null, usage: null }),
    u2: said("u2", [{ type: "text", text: odd.padEnd(size, "z") }], { parentId: "a1", childrenIds: ["a3"] }),
    a3: replied("a3", "u2", { content: "", done: false }),
  };
  const { id } = await me.make({ history: { currentId: "a3", messages } });
  const read = async () => withoutAuthor((await me.read(id)).chat) as unknown as Shown;
  const chat = await read();
  expect(chat.history.messages).toEqual(messages);
  expect(chat.messages).toEqual([messages.u1, messages.a1, messages.u2, messages.a3]);
  const reply = { chatId: id, messageId: "a3", runId: randomUUID() };
  await services.replies.begin(reply);
  const output = [{ type: "message", id: "m", content: [{ type: "output_text", text: "Grü" }] }];
  await services.replies.checkpoint([{ ...reply, seq: 1, state: { content: "Grü", output } }]);
  const items = [{ at: 0, text: `ße ${odd}` }];
  await services.replies.checkpoint([{ ...reply, seq: 2, state: {}, grown: { after: 1, items } }]);
  const growing = await read();
  expect(growing.history.messages["a3"]).toMatchObject({ content: `Grüße ${odd}`, done: false });
  expect(growing.messages.at(-1)).toEqual(growing.history.messages["a3"]);
  expect(growing.history.messages["a1"]).toEqual(messages.a1);
});
