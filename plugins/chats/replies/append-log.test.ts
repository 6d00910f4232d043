import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
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
import type { GrownItem } from "../service.ts";

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
  const begun = { type: "message", id: "m", content: [{ type: "output_text", text: "Ha" }] };
  const add = (seq: number, after: number, ...items: GrownItem[]) =>
    services.replies.checkpoint([{ ...reply, seq, state: {}, grown: { after, items } }]);

  it("grows by what is new, and is read as a whole by whoever reads it", async () => {
    await services.replies.checkpoint([{ ...reply, seq: 1, state: { content: "Ha", output: [begun] } }]);
    const thought = { type: "reasoning", id: "r", content: [{ type: "output_text", text: "Hm" }] };
    const call = { type: "function_call", id: "c", name: "look", arguments: "" };
    await add(2, 1, { at: 0, text: "lf\u0000" }, { at: 1, item: thought });
    await add(3, 2, { at: 1, text: "m\ud800", details: [{ signature: "a" }] }, { at: 2, item: call });
    await add(4, 3, { at: 1, details: [{ signature: "b" }] }, { at: 2, text: '{"at":' });
    // What grows without an event of its own.
    await add(4, 4, { at: 2, text: "1}" }, { at: 3, item: { ...begun, id: "n" } });
    const whole = {
      content: "Half\nHa",
      done: false,
      output: [
        { ...begun, content: [{ type: "output_text", text: "Half" }] },
        {
          ...thought,
          content: [{ type: "output_text", text: "Hmm\ufffd" }],
          reasoning_details: [{ signature: "a" }, { signature: "b" }],
        },
        { ...call, arguments: '{"at":1}' },
        { ...begun, id: "n" },
      ],
    };
    expect(await message()).toMatchObject(whole);
    expect((await services.chats.branch(reply.chatId, "a1")).at(-1)).toMatchObject(whole);
    expect(await services.chats.message(reply.chatId, "a1")).toMatchObject({ message: whole, seq: 4 });
    const page = await me.call(`GET /${reply.chatId}/messages`);
    expect(page.body.messages.at(-1)).toMatchObject(whole);
    // A state counts in place of everything before it.
    await services.replies.checkpoint([{ ...reply, seq: 5, state: { content: "Anew", output: [] } }]);
    expect(await message()).toMatchObject({ content: "Anew", output: [] });
    await add(6, 5, { at: 0, item: begun });
    await services.replies.finish({ ...reply, seq: 7, state: { content: "End", output: [begun] } });
    expect(await message()).toMatchObject({ content: "End", done: true, output: [begun] });
  });

  it("takes nothing that does not follow what is stored, such as a statement that comes late", async () => {
    await services.replies.checkpoint([{ ...reply, seq: 1, state: { content: "Ha", output: [begun] } }]);
    expect((await add(2, 1, { at: 0, text: "l" })).size).toBe(1);
    expect((await add(2, 1, { at: 0, text: "l" })).size).toBe(0);
    expect((await add(9, 3, { at: 0, text: "f" })).size).toBe(0);
    expect((await services.replies.held([reply])).size).toBe(1);
    expect((await message()).content).toBe("Hal");
  });

  it("keeps what it had grown by when its run is gone, and is found by it", async () => {
    await services.replies.checkpoint([{ ...reply, seq: 1, state: { content: "Ha", output: [begun] } }]);
    await add(2, 1, { at: 0, text: "lf a wheel" });
    const { runId } = reply;
    expect(await services.replies.interrupt([reply])).toMatchObject([
      { ...reply, runId, userId: user.id, seq: 100_002 },
    ]);
    expect(await message()).toMatchObject({
      content: "Half a wheel",
      done: true,
      output: [{ content: [{ text: "Half a wheel" }] }],
    });
    expect((await add(3, 2, { at: 0, text: "!" })).size).toBe(0);
    const found = (await me.call("GET /search?text=wheel")).body as { id: string }[];
    expect(found.map(({ id }) => id)).toContain(reply.chatId);
    const { rows } = await app.running.database.query("select 1 from chat_message_tail where chat_id = $1", [
      reply.chatId,
    ]);
    expect(rows).toEqual([]);
  });
});
