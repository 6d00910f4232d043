import { readFileSync } from "node:fs";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { percentile, report, times } from "#test/support/faults.ts";
import { ReplyReader } from "#test/support/reply-reader.ts";
import { connectPlain, within } from "#test/support/sockets.ts";
import { paced } from "#test/support/upstream-paced.ts";

const slowCount = times(10, 100);
const runCount = 6;
/** A reply of about one and a half MB; a client gets its text four times over. */
const pieces = Array.from({ length: 100 }, (_, at) => `${at} ${"abcdefghijklmn ".repeat(1_000)}`);

let all: ChatServers;
beforeAll(async () => {
  all = await startChatServers({ database: "embedded" });
}, 120_000);
afterAll(() => all?.close());

/** A WebSocket that reads a kilobyte a second. */
async function openSlow(): Promise<Socket> {
  const { hostname, port } = new URL(all.servers[0]!.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(
    `GET /ws HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
      `sec-websocket-version: 13\r\nsec-websocket-key: ${Buffer.alloc(16, 1).toString("base64")}\r\n` +
      `authorization: Bearer ${all.admin().token}\r\n\r\n`,
  );
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString("latin1")).toContain("101 Switching Protocols");
  socket.pause();
  const timer = setInterval(() => socket.read(1_024), 1_000);
  socket.once("close", () => clearInterval(timer));
  return socket;
}

const rssOf = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${all.servers[0]!.child.pid}/status`, "utf8"))?.[1]) /
  1024;

/** Promise R16: a slow reader is bounded. */
it(
  `${slowCount} clients at 1 KB a second are cut off, and get the whole message when they come back`,
  {
    timeout: 300_000,
  },
  async () => {
    const me = all.admin();
    const read = async () => {
      const client = await connectPlain(all.servers[0]!.url, { token: me.token });
      await client.sessionId();
      return client;
    };
    const fast = await read();
    const stream = async () => {
      const { chatId, userId, replyId } = await me.makeChat();
      const reader = new ReplyReader({ chatId, messageId: replyId });
      reader.listen(fast);
      all.upstream.reply("/chat/completions", paced(pieces, { every: 30 }));
      await me.complete({ chat_id: chatId, id: replyId, user_message: { id: userId } });
      return reader;
    };
    const whole = async (readers: ReplyReader[]) => {
      await expect.poll(() => readers.every(({ isDone }) => isDone), { timeout: 120_000 }).toBe(true);
      await Promise.all(readers.map(({ chatId }) => me.ended(chatId)));
      fast.events.length = 0;
    };
    // What the runs themselves take is in the first figure.
    await whole(await Promise.all(Array.from({ length: runCount }, stream)));
    const alone = rssOf();

    const slow = await Promise.all(Array.from({ length: slowCount }, openSlow));
    const ends = Promise.all(slow.map((socket) => once(socket, "close")));
    const watch = { on: true, most: 0, waits: [] as number[] };
    const watching = (async () => {
      while (watch.on) {
        const sent = performance.now();
        await fetch(`${all.servers[0]!.url}/health`);
        watch.waits.push(performance.now() - sent);
        watch.most = Math.max(watch.most, rssOf());
        await pause(50);
      }
    })();
    const readers = await Promise.all(Array.from({ length: runCount }, stream));
    await whole(readers);
    watch.on = false;
    await watching;
    expect(readers.map(({ text, gaps }) => [text === pieces.join(""), gaps])).toEqual(
      readers.map(() => [true, 0]),
    );

    // Only now their kernels give up what they hold, the end of the connection behind it.
    slow.forEach((socket) => socket.resume());
    expect(await within(30_000, ends)).toBeDefined();
    const again = await read();
    const late = new ReplyReader(readers[0] as ReplyReader);
    const ms = await late.resume(again);
    expect([late.snapshots, late.isDone, late.text === pieces.join("")]).toEqual([1, true, true]);
    again.close();
    fast.close();
    report("R16", `${slowCount} readers at 1 KB/s`, {
      "MB each was sent": (readers.length * 4 * pieces.join("").length) / 1024 / 1024,
      "MB more in all": watch.most - alone,
      "health p95 ms": percentile(watch.waits, 95),
      "snapshot ms": ms,
    });
    // Garbage that is not collected yet moves this figure; what was sent to all of them would not fit below it.
    expect(watch.most - alone).toBeLessThan(slowCount * 1 + 400);
  },
);
