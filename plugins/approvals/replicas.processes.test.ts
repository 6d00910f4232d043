import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";

const plugin = `
import { definePlugin } from "#kernel/plugin.ts";
import { defineTool } from "#kernel/tools/tool.ts";
const spec = { name: "send", description: "Sends", parameters: { type: "object", properties: {} } };
const send = defineTool({ id: "guard.send", spec, approval: "ask", run: async () => "sent" });
export default definePlugin({ id: "guard", title: "Guard", setup: () => ({ tools: [send] }) });
`;

describe("calls that wait for an approval, on two processes", () => {
  let all: ChatServers;
  let folder: string;
  const clients: PlainClient[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "guard-"));
    await mkdir(join(folder, "guard"));
    await writeFile(join(folder, "guard/plugin.ts"), plugin);
    all = await startChatServers({ database: "server", replicas: 2, env: { PLUGINS_PATH: folder } });
  }, 120_000);
  afterAll(async () => {
    clients.forEach((client) => client.close());
    await all?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts a run on the first process; resolves when a client of process `at` sees that it waits. */
  async function startWaiting(at: number) {
    const me = all.admin();
    const client = await connectPlain(all.servers[at]!.url, { token: me.token });
    clients.push(client);
    await client.sessionId();
    const chat = await me.makeChat();
    all.upstream.reply(
      "/chat/completions",
      sse(toolCallChunks([{ id: "call_1", name: "send", arguments: "{}" }])),
    );
    const answer = await me.complete({
      chat_id: chat.chatId,
      id: chat.replyId,
      user_message: { id: chat.userId },
    });
    expect(answer.status).toBe(200);
    await client.event(
      (_, data) => data?.message_id === chat.replyId && data.data.data?.output?.[0]?.status === "pending",
    );
    const route = `POST /api/v1/chats/${chat.chatId}/messages/${chat.replyId}/approvals/call_1`;
    return { ...chat, client, route };
  }

  it("are answered through any of them", async () => {
    const run = await startWaiting(1);
    all.upstream.reply("/chat/completions", text("Fine."));
    const answered = await all.admin(1).call(run.route, { decision: "allow", always: true });
    expect([answered.status, answered.body]).toEqual([200, true]);
    await all.admin().ended(run.chatId);
    const reply = await all.admin(1).message(run.chatId, run.replyId);
    expect(reply.output).toMatchObject([
      { approval: { status: "allowed", always: true } },
      { output: [{ text: "sent" }] },
      { type: "message" },
    ]);
    const kept = await all.admin(1).call("GET /api/v1/users/user/approvals");
    expect(kept.body).toMatchObject([{ tool_id: "guard.send", decision: "allow" }]);
    expect((await all.admin(0).call("DELETE /api/v1/users/user/approvals")).status).toBe(200);
  });

  it("end with the process that waited: the message says so", async () => {
    const run = await startWaiting(0);
    // The store follows a moment later.
    await pause(1_500);
    await all.servers[0]!.kill();
    await all.start(0);
    const me = all.admin();
    const read = () => me.message(run.chatId, run.replyId);
    await expect.poll(async () => (await read()).done, { timeout: 60_000 }).toBe(true);
    const reply = await read();
    expect(reply).toMatchObject({
      done: true,
      error: { content: "interrupted" },
      output: [{ type: "function_call", status: "completed", approval: { status: "cancelled" } }],
    });
    expect((await me.call(run.route, { decision: "allow" })).status).toBe(409);
  });
});
