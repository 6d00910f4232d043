import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";

const options = [{ label: "Water" }, { label: "Wind" }];
const args = JSON.stringify({ questions: [{ id: "mill", question: "Which mill?", options }] });

let all: ChatServers;
beforeAll(async () => void (all = await startChatServers({ database: "server", replicas: 2 })));
afterAll(() => all?.close());

/** Starts a reply on the first process that waits for an answer. */
async function startAsking() {
  const me = all.admin();
  const client = await connectPlain(all.servers[0]!.url, { token: me.token });
  await client.sessionId();
  const chat = await me.makeChat();
  const isReply = "/chat/completions";
  all.upstream.reply(isReply, sse(toolCallChunks([{ id: "call_1", name: "ask_user", arguments: args }])));
  const body = { chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } };
  expect((await me.complete(body)).status).toBe(200);
  await client.event(
    (_, data) => data?.message_id === chat.replyId && data.data.data?.output?.[0]?.status === "pending",
  );
  client.close();
  const route = `POST /api/v1/chats/${chat.chatId}/messages/${chat.replyId}/questions/call_1`;
  return { ...chat, body, route };
}

it("is answered through any process", async () => {
  const run = await startAsking();
  all.upstream.reply("/chat/completions", text("Fine."));
  const answered = await all.admin(1).call(run.route, { answers: { mill: "Wind" } });
  expect([answered.status, answered.body]).toEqual([200, { goes_on: true }]);
  await all.admin().ended(run.chatId);
  expect((await all.admin().message(run.chatId, run.replyId)).content).toBe("Fine.");
});

it.each(["kill", "stop"] as const)(
  "stays open when its process ends (%s), and the reply goes on with the answer",
  async (way) => {
    const run = await startAsking();
    // The store follows a moment later.
    await pause(1_500);
    await all.servers[0]![way]();
    await all.start(0);
    const me = all.admin();
    const read = () => me.message(run.chatId, run.replyId);
    await expect.poll(async () => (await read()).done, { timeout: 60_000 }).toBe(true);
    let reply = await read();
    expect(reply).toMatchObject({
      done: true,
      error: { content: "interrupted" },
      output: [{ type: "function_call", status: "pending", question: { questions: [{ id: "mill" }] } }],
    });
    expect((await me.call(run.route, { answers: { stone: "x" } })).status).toBe(422);
    const answered = await me.call(run.route, { answers: { mill: "Wind" } });
    expect([answered.status, answered.body]).toEqual([200, { goes_on: false }]);
    expect((await me.call(run.route, { answers: { mill: "Water" } })).status).toBe(409);
    const before = all.upstream.requests.length;
    all.upstream.reply("/chat/completions", text("A windmill then."));
    expect((await me.complete({ ...run.body, assistant_message_id: run.replyId })).status).toBe(200);
    await me.ended(run.chatId);
    const asked = all.upstream.requests.slice(before).find(({ body }) => body?.stream === true);
    expect(asked?.body.messages.slice(-2)).toMatchObject([
      { role: "assistant", tool_calls: [{ id: "call_1", function: { name: "ask_user" } }] },
      { role: "tool", tool_call_id: "call_1", content: expect.stringContaining('"answer":"Wind"') },
    ]);
    reply = await me.message(run.chatId, run.replyId);
    expect(reply).toMatchObject({ done: true, content: "A windmill then." });
    expect(reply.error).toBeUndefined();
    expect(reply.output.map(({ type }: { type: string }) => type)).toEqual([
      "function_call",
      "function_call_output",
      "message",
    ]);
    expect(reply.output[0]).not.toHaveProperty("question");
  },
);
