import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatServers, databaseKinds, startChatServers } from "#test/support/chat-servers.ts";
import { percentile, report, times } from "#test/support/faults.ts";
import { createPacedLog, makePieces, paced } from "#test/support/upstream-paced.ts";

const kills = times(2, 20);
const together = 5;
/** What was shown this long before the process died must still be there. */
const lostAtMostMs = 1_500;

const appends = { ENABLE_CHAT_RESPONSE_STREAM_INPLACE_APPEND: "true" };
const embedded = databaseKinds.filter(([, database]) => database === "embedded");
const ways = [
  ...databaseKinds.map(([name, database]) => ({ name, database, env: {} })),
  // Also in the form that appends, which is the same in the round on a server.
  ...embedded.map(
    ([name]) => ({ name: `${name}, by appending`, database: "embedded", env: appends }) as const,
  ),
];

/** Promise R2: a killed run keeps its partial reply, marked interrupted, and can be continued. */
describe.each(ways)("kill -9 under streaming replies on $name", ({ name, database, env }) => {
  describe("(promise R2)", () => {
    let all: ChatServers;
    beforeAll(async () => {
      all = await startChatServers({ database, env });
    }, 120_000);
    afterAll(() => all?.close());

    /** Starts a run whose reply is all its own. */
    async function startRun() {
      const me = all.admin();
      const chat = await me.makeChat();
      const log = createPacedLog();
      const mark = randomUUID().slice(0, 4);
      const pieces = makePieces(2_000, mark);
      const seed = Math.floor(Math.random() * 2 ** 31);
      all.upstream.reply(
        ({ body }) => body?.seed === seed,
        paced(pieces, { every: 15, log, reasoning: ["Let me", " think."] }),
      );
      const body = { chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId }, seed };
      expect((await me.complete(body)).status).toBe(200);
      return { ...chat, log };
    }

    async function untilDone(chatId: string, replyId: string, since: number) {
      for (;;) {
        const reply = await all.admin().message(chatId, replyId);
        if (reply.done) {
          return { reply, ms: performance.now() - since };
        }
        await pause(100);
      }
    }

    async function goOn({ chatId, userId, replyId }: Awaited<ReturnType<typeof startRun>>, before: string) {
      const me = all.admin();
      const rest = makePieces(10, "rest").join("");
      const seed = Math.floor(Math.random() * 2 ** 31);
      const isOurs = ({ body }: { body: { seed?: number } }) => body?.seed === seed;
      all.upstream.reply(isOurs, paced(makePieces(10, "rest"), { every: 5 }));
      const asked = all.upstream.nextRequest(isOurs);
      const body = { chat_id: chatId, assistant_message_id: replyId, user_message: { id: userId }, seed };
      expect((await me.complete(body)).status).toBe(200);
      const last = (await asked).body.messages.at(-1);
      expect([last.role, last.content]).toEqual(["assistant", before]);
      await me.ended(chatId);
      const { content, done, error, output } = await me.message(chatId, replyId);
      expect([content, done, error ?? null]).toEqual([`${before}${rest}`, true, null]);
      expect(output.map(({ type }: { type: string }) => type)).toEqual(["reasoning", "message"]);
    }

    it(`${kills} times ${together} runs`, { timeout: kills * 60_000 }, async () => {
      const ends: number[] = [];
      const lostMs: number[] = [];
      for (let round = 0; round < kills; round++) {
        const runs = await Promise.all(Array.from({ length: together }, startRun));
        await pause(1_800 + Math.random() * 1_500);
        const killed = performance.now();
        await all.servers[0]!.kill();
        await all.start(0);
        const up = performance.now();
        for (const run of runs) {
          const { reply, ms } = await untilDone(run.chatId, run.replyId, up);
          ends.push(ms);
          const content = reply.content as string;
          expect(run.log.until(killed + 60_000).startsWith(content)).toBe(true);
          expect(content.length).toBeGreaterThanOrEqual(run.log.until(killed - lostAtMostMs).length);
          expect(reply.error).toEqual({ content: "interrupted" });
          lostMs.push(killed - lastShown(run.log, content.length));
          await all.admin().ended(run.chatId);
        }
        await goOn(runs[0]!, (await all.admin().message(runs[0]!.chatId, runs[0]!.replyId)).content);
      }
      report("R2", `kill -9 mid-stream on ${name}`, {
        runs: ends.length,
        "text lost p95 ms": percentile(lostMs, 95),
        "terminal after restart max ms": Math.max(...ends),
      });
      expect(Math.max(...ends)).toBeLessThan(10_000);
    });
  });
});

/** When the piece left that follows the first `length` characters. */
function lastShown({ sent }: ReturnType<typeof createPacedLog>, length: number): number {
  let seen = 0;
  for (const { text, at } of sent) {
    seen += text.length;
    if (seen > length) {
      return at;
    }
  }
  return sent.at(-1)?.at ?? 0;
}
