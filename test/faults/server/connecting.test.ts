import { setTimeout as pause } from "node:timers/promises";
import { io } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { connectPlain, within } from "#test/support/sockets.ts";
import { startTcpProxy, type TcpProxy } from "#test/support/tcp-proxy.ts";
import { testServer } from "#storage/testing.ts";

const server = testServer();

/** Promise R14: an outage of the database is survived. */
describe("clients that connect while the database is away", () => {
  let proxy: TcpProxy;
  let all: ChatServers;
  beforeAll(async () => {
    const { hostname, port } = new URL(server as string);
    proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) });
    const toUrl = (url: URL) => Object.assign(url, { hostname: "127.0.0.1", port: String(proxy.port) });
    const env = { DATABASE_QUERY_TIMEOUT: "1", DATABASE_POOL_TIMEOUT: "1" };
    all = await startChatServers({ database: "server", toUrl, env });
  }, 120_000);
  afterAll(async () => {
    await all?.close();
    await proxy?.close();
  });

  it("come in, whichever protocol they speak, once it is back", { timeout: 60_000 }, async () => {
    const { token } = await all.addUser();
    const { url } = all.servers[0]!;
    proxy.cut();
    const plain = await connectPlain(url, { token });
    expect(await plain.closed).toMatchObject({ code: 1013 });
    const socket = io(url, {
      path: "/ws/socket.io",
      transports: ["websocket"],
      auth: { token },
      reconnectionDelay: 100,
      reconnectionDelayMax: 200,
    });
    const connected = new Promise<void>((resolve) => socket.once("connect", resolve));
    await within(1_000, connected);
    await pause(200);
    proxy.restore();
    await connected;
    expect(await within(5_000, socket.emitWithAck("join-channels", {}))).toBe(true);
    socket.disconnect();
  });
});
