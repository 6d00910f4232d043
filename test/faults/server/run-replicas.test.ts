import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { report, times } from "#test/support/faults.ts";
import { ReplyReader } from "#test/support/reply-reader.ts";
import { connectPlain, type PlainClient, within } from "#test/support/sockets.ts";
import { makePieces, paced } from "#test/support/upstream-paced.ts";

const redisUrl = process.env["TEST_REDIS_URL"];
const ways: [string, boolean, () => Record<string, string>][] = [
  ["the database", false, () => ({})],
  [
    "Redis (needs TEST_REDIS_URL)",
    !redisUrl,
    () => ({ REDIS_URL: redisUrl as string, REDIS_KEY_PREFIX: randomUUID() }),
  ],
];
const everywhere = [0, 1, 2];

/** Promise R4: any replica serves any socket. */
describe.each(ways)("runs on three replicas that talk over %s", (way, isSkipped, toEnv) => {
  describe.skipIf(isSkipped)("(promise R4)", () => {
    let all: ChatServers;
    let clients: PlainClient[] = [];
    beforeAll(async () => {
      all = await startChatServers({ database: "server", replicas: 3, env: toEnv() });
    }, 180_000);
    afterAll(() => all?.close());

    async function connectAll(numbers: readonly number[] = everywhere): Promise<PlainClient[]> {
      clients.forEach((client) => client.close());
      const { token } = all.admin();
      clients = await Promise.all(numbers.map((at) => connectPlain(all.servers[at]!.url, { token })));
      await Promise.all(clients.map((client) => client.sessionId()));
      return clients;
    }
    /** The end is told first; what is done after a reply ends a moment later, and the run with it. */
    const noneUnderWay = (at: number, chatId: string) =>
      expect.poll(() => all.admin(at).tasks(chatId), { timeout: 5_000, interval: 20 }).toEqual([]);
    /** Starts a run on a replica and reads it from each of these connections. */
    async function startRun(at: number, pieces: readonly string[], every: number) {
      const me = all.admin(at);
      const chat = await me.makeChat();
      all.upstream.reply("/chat/completions", paced(pieces, { every }));
      const asked = all.upstream.nextRequest("/chat/completions");
      const readers = clients.map((client) => {
        const reader = new ReplyReader({ chatId: chat.chatId, messageId: chat.replyId });
        reader.listen(client);
        return reader;
      });
      const answer = await me.complete({
        chat_id: chat.chatId,
        id: chat.replyId,
        user_message: { id: chat.userId },
      });
      expect(answer.status).toBe(200);
      return { ...chat, readers, taskId: answer.body.task_ids[0] as string, upstream: await asked };
    }
    const until = async (holds: () => boolean, what: string, ms = 15_000) => {
      const started = performance.now();
      while (!holds()) {
        if (performance.now() - started > ms) {
          throw new Error(`${what} did not happen within ${ms} ms`);
        }
        await pause(20);
      }
      return performance.now() - started;
    };

    it("every socket gets every event of every run once, in order", { timeout: 120_000 }, async () => {
      await connectAll();
      const pieces = makePieces(200);
      const started = await Promise.all(
        Array.from({ length: times(6, 60) }, (_, n) => startRun(n % 3, pieces, 15)),
      );
      for (const { readers, chatId, replyId } of started) {
        await until(() => readers.every(({ isDone }) => isDone), "the end on every socket", 60_000);
        expect(readers.map(({ text }) => text)).toEqual(everywhere.map(() => pieces.join("")));
        expect(readers.map(({ gaps, repeats }) => [gaps, repeats])).toEqual(everywhere.map(() => [0, 0]));
        expect((await all.admin(1).message(chatId, replyId)).content).toBe(pieces.join(""));
      }
      const events = started.reduce((sum, { readers }) => sum + (readers[0] as ReplyReader).seq, 0);
      report("R4", `three replicas over ${way}`, { runs: started.length, events, gaps: 0, repeats: 0 });
    });

    it("any replica lists a run, fetches what was missed, and stops it", { timeout: 60_000 }, async () => {
      await connectAll();
      const run = await startRun(0, makePieces(2_000), 15);
      await until(() => (run.readers[2] as ReplyReader).seq > 10, "text on the third replica");
      for (const at of everywhere) {
        expect(await all.admin(at).tasks(run.chatId)).toEqual([run.taskId]);
        const late = new ReplyReader({ chatId: run.chatId, messageId: run.replyId });
        await late.resume(clients[at] as PlainClient);
        expect([late.seq > 10, late.text.startsWith("stream0 über1")]).toEqual([true, true]);
      }
      const begun = performance.now();
      const stopped = await all.admin(2).call(`POST /api/tasks/chat/${run.chatId}/stop`);
      expect(stopped.body.task_ids).toEqual([run.taskId]);
      expect(await within(10_000, run.upstream.aborted)).toBeDefined();
      const ms = performance.now() - begun;
      await until(() => run.readers.every(({ isDone }) => isDone), "the end on every socket");
      for (const at of everywhere) {
        await noneUnderWay(at, run.chatId);
      }
      const reply = await all.admin(1).message(run.chatId, run.replyId);
      expect(run.readers.map(({ text }) => text)).toEqual(everywhere.map(() => reply.content));
      expect([reply.done, reply.error ?? null]).toEqual([true, null]);
      report("R4", `stop from another replica over ${way}`, { "upstream let go after ms": ms });
      expect(ms).toBeLessThan(2_000 * times(2, 1));
    });

    it(
      "deleting the chat elsewhere ends a run whose upstream says nothing",
      { timeout: 60_000 },
      async () => {
        await connectAll();
        const run = await startRun(0, ["late"], 600_000);
        const begun = performance.now();
        expect((await all.admin(1).call(`DELETE /api/v1/chats/${run.chatId}`)).status).toBe(200);
        expect(await within(10_000, run.upstream.aborted)).toBeDefined();
        const ms = performance.now() - begun;
        report("R24", `chat deleted on another replica over ${way}`, { "upstream let go after ms": ms });
        expect(ms).toBeLessThan(2_000 * times(2, 1));
      },
    );

    it("the others see that the replica which streams was killed", { timeout: 900_000 }, async () => {
      for (let round = 0; round < times(1, 10); round++) {
        await connectAll([1, 2]);
        const run = await startRun(0, makePieces(4_000), 15);
        await until(() => run.readers.every(({ seq }) => seq > 20), "text on the others");
        const before = run.readers.map(({ text }) => text);
        await all.servers[0]!.kill();
        const killed = performance.now();
        const told = clients.map((client) =>
          client.event((_name, data) => data?.message_id === run.replyId && data.data.data?.done),
        );
        const ends = await Promise.all(told);
        const ms = performance.now() - killed;
        const reply = await all.admin(1).message(run.chatId, run.replyId);
        expect([reply.done, reply.error]).toEqual([true, { content: "interrupted" }]);
        expect(ends.map(({ data }) => data.data.content)).toEqual([reply.content, reply.content]);
        for (const [at, reader] of run.readers.entries()) {
          const [client, shown] = [clients[at] as PlainClient, before[at] as string];
          const seen = reader.seq;
          // The number jumps, because nobody knows how far the dead one came: clients fetch the whole message.
          await reader.resume(client);
          expect([reader.seq > seen, reader.isDone, reader.error]).toEqual([true, true, "interrupted"]);
          expect([reader.text, reader.text.startsWith(shown) || shown.startsWith(reader.text)]).toEqual([
            reply.content,
            true,
          ]);
        }
        await noneUnderWay(2, run.chatId);
        // A replica does not wait for the dead one's answer: of three fetches one is quick, also beside other suites.
        const [reader, client] = [run.readers[0] as ReplyReader, clients[0] as PlainClient];
        const tries = [await reader.resume(client), await reader.resume(client), await reader.resume(client)];
        const caughtUp = Math.min(...tries);
        report("R3", `an ended reply fetched beside a dead replica, over ${way}`, { ms: caughtUp });
        expect(caughtUp).toBeLessThan(900);
        report("R4", `the streaming replica killed, over ${way}`, { "others told after ms": ms });
        expect(ms).toBeLessThan(10_000);
        await all.start(0);
      }
    });
  });
});
