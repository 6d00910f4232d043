import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toChat } from "#test/support/chat-driver.ts";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { percentile, report, times } from "#test/support/faults.ts";
import { ReplyReader } from "#test/support/reply-reader.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { startTcpProxy, type TcpProxy } from "#test/support/tcp-proxy.ts";
import { createPacedLog, makePieces, paced } from "#test/support/upstream-paced.ts";
import { testServer } from "#storage/testing.ts";

const server = testServer();
const outageMs = times(7_000, 30_000);
const runCount = times(20, 50);
/** Seconds that a statement, and waiting for a connection, may take. */
const limit = 2;
/** Milliseconds between two pieces; every run streams on for some seconds after the outage. */
const every = 40;
const pieceCount = Math.ceil((outageMs + 9_000) / every);

/** Promise R14: an outage of the database is survived. */
describe(`${outageMs / 1000} s without a database under ${runCount} runs`, () => {
  let proxy: TcpProxy;
  let all: ChatServers;
  beforeAll(async () => {
    const { hostname, port } = new URL(server as string);
    proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) });
    // Two replicas, each away from the database: neither may take the other for dead afterwards.
    const toUrl = (url: URL) => Object.assign(url, { hostname: "127.0.0.1", port: String(proxy.port) });
    const env = { DATABASE_QUERY_TIMEOUT: String(limit), DATABASE_POOL_TIMEOUT: String(limit) };
    all = await startChatServers({ database: "server", replicas: 2, toUrl, env });
  }, 120_000);
  afterAll(async () => {
    await all?.close();
    await proxy?.close();
  });

  async function startRun(n: number) {
    const me = all.admin(n % 2);
    const chat = await me.makeChat();
    const log = createPacedLog();
    all.upstream.reply("/chat/completions", paced(makePieces(pieceCount), { every, log }));
    const body = { chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } };
    expect((await me.complete(body)).status).toBe(200);
    return { ...chat, log, at: n % 2 };
  }

  const makeChat = (at: number) => {
    const chat = toChat("While the database is away", {
      userId: crypto.randomUUID(),
      replyId: crypto.randomUUID(),
    });
    return all.admin(at).call("POST /api/v1/chats/new", { chat });
  };

  it.each([
    ["is down", () => proxy.cut()],
    ["cannot be reached", () => proxy.stall()],
  ] as const)("the database %s", { timeout: 240_000 }, async (how, takeAway) => {
    const { token } = all.admin();
    const client = await connectPlain(all.servers[0]!.url, { token });
    await client.sessionId();
    const runs = await Promise.all(Array.from({ length: runCount }, (_, n) => startRun(n)));
    const readers = runs
      .filter(({ at }) => at === 0)
      .map(({ chatId, replyId: messageId }) => new ReplyReader({ chatId, messageId }));
    readers.forEach((reader) => reader.listen(client));
    await Promise.all(readers.map((reader) => reader.resume(client)));
    await pause(2_000);

    takeAway();
    const away = performance.now();
    const asked = performance.now();
    const late = makeChat(0).then(({ status }) => ({ status, ms: performance.now() - asked }));
    const refused = await writeWhileAway();
    const shown = readers.map(({ text }) => text.length);
    await pause(Math.max(0, outageMs - (performance.now() - away)));
    proxy.restore();

    const back = performance.now();
    await Promise.all([0, 1].map(untilWritable));
    const writable = performance.now() - back;
    const landed = await Promise.all(runs.map((run) => untilLanded(run, back)));
    expect(readers.every(({ text }, n) => text.length > (shown[n] as number))).toBe(true);
    for (const { chatId, replyId, at } of runs) {
      await all.admin(at).ended(chatId);
      const stored = async () => {
        const { content, done, error } = await all.admin(1 - at).message(chatId, replyId);
        return [content, done, error ?? null];
      };
      await expect.poll(stored, { timeout: 10_000 }).toEqual([makePieces(pieceCount).join(""), true, null]);
    }
    for (const reader of readers) {
      await reader.resume(client);
      expect([reader.text, reader.isDone]).toEqual([makePieces(pieceCount).join(""), true]);
    }
    expect(all.servers.map(({ child }) => child.exitCode)).toEqual([null, null]);
    report("R14", `the database ${how} for ${outageMs / 1000} s`, {
      runs: runs.length,
      "writes refused": refused.length,
      "refused after p95 ms": percentile(refused, 95),
      "writable after ms": writable,
      "deltas stored after max ms": Math.max(...landed),
      interrupted: 0,
    });
    const { status, ms } = await late;
    report("R14", `a write sent when the database ${how}`, { status, ms });
    expect(status).toBe(503);
    // A statement that hangs, or waiting for a connection that others hang on.
    expect(Math.max(ms, ...refused)).toBeLessThan(2 * limit * 1_000 + 1_000);
    expect(writable).toBeLessThan(5_000 * times(2, 1));
    expect(Math.max(...landed)).toBeLessThan(5_000 * times(2, 1));
    client.close();
  });

  /** Writes on both replicas; resolves to how long each refusal took. */
  async function writeWhileAway(): Promise<number[]> {
    const until = performance.now() + outageMs - 2_000;
    const refused: number[] = [];
    while (performance.now() < until) {
      const write = async (at: number) => {
        const sent = performance.now();
        const { status, headers } = await makeChat(at);
        expect([status, Number(headers.get("retry-after")) > 0]).toEqual([503, true]);
        refused.push(performance.now() - sent);
      };
      await Promise.all([0, 1].map(write));
      await pause(200);
    }
    return refused;
  }

  async function untilWritable(at: number): Promise<void> {
    while ((await makeChat(at)).status !== 200) {
      await pause(50);
    }
  }

  /** Milliseconds after `back` until what was streamed until then is in the chat. */
  async function untilLanded(
    { chatId, replyId, log, at }: Awaited<ReturnType<typeof startRun>>,
    back: number,
  ): Promise<number> {
    const wanted = log.until(back - 500).length;
    for (;;) {
      const answer = await all.admin(at).call(`GET /api/v1/chats/${chatId}`);
      if (answer.status === 200 && answer.body.chat.history.messages[replyId].content.length >= wanted) {
        return performance.now() - back;
      }
      await pause(100);
    }
  }
});
