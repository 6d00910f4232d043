import { expect, it } from "vitest";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { connectPlain, within } from "#test/support/sockets.ts";
import { startTcpProxy, type TcpProxy } from "#test/support/tcp-proxy.ts";
import { tokens } from "#test/support/upstream-scripts.ts";
import { testServer } from "#storage/testing.ts";
import { setUp } from "#test/support/set-up.ts";

const server = testServer();

let proxy: TcpProxy;
let all: ChatServers;

setUp(async (keep) => {
  if (server === undefined) {
    return;
  }
  const { hostname, port } = new URL(server);
  proxy = await keep(startTcpProxy({ host: hostname, port: Number(port || 5432) }));
  const toUrl = (url: URL) => Object.assign(url, { hostname: "127.0.0.1", port: String(proxy.port) });
  all = await keep(startChatServers({ database: "server", toUrl }));
}, 120_000);

/** Promise R11, without the database: the next process ends what this one cannot. */
it("SIGTERM while the database is away ends the process", { timeout: 120_000 }, async () => {
  const me = all.admin();
  const client = await connectPlain(all.servers[0]!.url, { token: me.token });
  await client.sessionId();
  const chat = await me.makeChat();
  all.upstream.reply("/chat/completions", tokens(4_000, 20));
  await me.complete({ chat_id: chat.chatId, id: chat.replyId });
  await client.event((_, data) => data?.data?.type === "chat:message:delta");
  proxy.cut();
  expect(await within(60_000, all.servers[0]!.stop())).toBe(0);
  client.close();
  proxy.restore();
  await all.start(0);
  await expect
    .poll(async () => (await me.message(chat.chatId, chat.replyId)).error, { timeout: 20_000 })
    .toEqual({ content: "interrupted" });
});
