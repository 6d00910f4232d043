import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { type AnswerDroppingProxy, startAnswerDroppingProxy } from "#test/support/answer-dropping-proxy.ts";
import { connectPlain, within } from "#test/support/sockets.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { testServer } from "#storage/testing.ts";

const server = testServer();

/** Promises R1 and R2: what the database did counts, whether its answer arrived or not. */
describe("an answer of the database that is lost", () => {
  let proxy: AnswerDroppingProxy;
  let all: ChatServers;
  beforeAll(async () => {
    const { hostname, port } = new URL(server as string);
    proxy = await startAnswerDroppingProxy({ host: hostname, port: Number(port || 5432) });
    const toUrl = (url: URL) => Object.assign(url, { hostname: "127.0.0.1", port: String(proxy.port) });
    all = await startChatServers({ database: "server", toUrl });
  }, 120_000);
  afterAll(async () => {
    await all?.close();
    await proxy?.close();
  });

  it("to the end of a reply: it is the run's own end", { timeout: 60_000 }, async () => {
    const me = all.admin();
    const client = await connectPlain(all.servers[0]!.url, { token: me.token });
    await client.sessionId();
    const chat = await me.makeChat();
    all.upstream.reply("/chat/completions", text("Hello there"));
    const dropped = proxy.dropAnswerTo("ended_by = p.run_id");
    const told = client.event(
      (_, data) => data?.message_id === chat.replyId && data.data.data?.done === true,
    );
    const asked = { chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } };
    expect((await me.complete(asked)).status).toBe(200);
    await dropped;
    expect((await within(15_000, told))?.data.data).toMatchObject({ done: true, content: "Hello there" });
    await me.ended(chat.chatId);
    const reply = await me.message(chat.chatId, chat.replyId);
    expect([reply.content, reply.done, reply.error ?? null]).toEqual(["Hello there", true, null]);
    client.close();
  });

  it("to taking a message: the reply is not open for ever", { timeout: 60_000 }, async () => {
    const me = all.admin();
    const chat = await me.makeChat();
    const dropped = proxy.dropAnswerTo('"ended_by" = ');
    const asked = { chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } };
    const [answer] = await Promise.all([me.complete(asked), dropped]);
    expect(answer.status).toBe(503);
    const end = performance.now() + 10_000;
    let reply = await me.message(chat.chatId, chat.replyId);
    while (!reply.done && performance.now() < end) {
      await pause(100);
      reply = await me.message(chat.chatId, chat.replyId);
    }
    expect([reply.done, reply.error]).toEqual([true, { content: "interrupted" }]);
    await me.ended(chat.chatId);
    // No run owns it: the same message can be asked for again.
    all.upstream.reply("/chat/completions", text("Hello again"));
    expect((await me.complete(asked)).status).toBe(200);
    await me.ended(chat.chatId);
    const again = await me.message(chat.chatId, chat.replyId);
    expect([again.content, again.done, again.error ?? null]).toEqual(["Hello again", true, null]);
  });
});
