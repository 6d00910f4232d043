import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatServers, databaseKinds, startChatServers } from "#test/support/chat-servers.ts";
import { percentile, report, times } from "#test/support/faults.ts";
import { ReplyReader } from "#test/support/reply-reader.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { makePieces, paced } from "#test/support/upstream-paced.ts";

const readers = times(6, 25);
const runs = times(1, 4);

describe.each(databaseKinds)("clients that miss events, on %s", (_name, database) => {
  describe("(promises R3 and R27)", () => {
    let all: ChatServers;
    let url: string;
    beforeAll(async () => {
      all = await startChatServers({ database });
      url = all.servers[0]!.url;
    }, 120_000);
    afterAll(() => all?.close());

    async function startRun(pieces: readonly string[], every: number, reasoning: readonly string[] = []) {
      const chat = await all.admin().makeChat();
      all.upstream.reply("/chat/completions", paced(pieces, { every, reasoning }));
      await all
        .admin()
        .complete({ chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } });
      return { chatId: chat.chatId, messageId: chat.replyId };
    }
    const connect = async () => {
      const client = await connectPlain(url, { token: all.admin().token });
      await client.sessionId();
      return client;
    };
    async function expectWhole(reader: ReplyReader, pieces: readonly string[]) {
      const stored = await all.admin().message(reader.chatId, reader.messageId);
      expect(reader.text).toBe(pieces.join(""));
      expect([stored.content, stored.done]).toEqual([pieces.join(""), true]);
      expect(reader.items).toEqual(stored.output);
    }

    it(`pages that are loaded again at random points see the whole reply`, { timeout: 120_000 }, async () => {
      const caughtUp: number[] = [];
      let reloads = 0;
      for (let run = 0; run < runs; run++) {
        const pieces = makePieces(400);
        const place = await startRun(pieces, 10, ["I", " see"]);
        const follow = async () => {
          const reader = new ReplyReader(place);
          while (!reader.isDone) {
            const client = await connect();
            reader.listen(client);
            caughtUp.push(await reader.resume(client));
            await pause(Math.random() * 500);
            client.close();
            await client.closed;
            reloads += 1;
            await pause(Math.random() * 300);
          }
          await expectWhole(reader, pieces);
        };
        await Promise.all(Array.from({ length: readers }, follow));
        await all.admin().ended(place.chatId);
      }
      report("R3", `reloads (${database})`, { reloads, "catch-up p95 ms": percentile(caughtUp, 95) });
      expect(percentile(caughtUp, 95)).toBeLessThan(500 * times(4, 1));
    });

    it(
      "who was away for longer than events are kept gets the whole message",
      { timeout: 60_000 },
      async () => {
        const pieces = Array.from({ length: 80 }, (_, at) => `${at} ${"ü".repeat(8_000)}`);
        const place = await startRun(pieces, 60);
        const reader = new ReplyReader(place);
        const first = await connect();
        reader.listen(first);
        await first.event((_name, data) => data?.message_id === place.messageId && data.seq > 5);
        first.close();
        await first.closed;
        await pause(3_500);
        const second = await connect();
        reader.listen(second);
        const ms = await reader.resume(second);
        expect([reader.snapshots, reader.isDone]).toEqual([1, false]);
        await second.event((_name, data) => data?.message_id === place.messageId && data.data.data?.done);
        await expectWhole(reader, pieces);
        second.close();
        report("R3", `snapshot of ${Math.round(reader.text.length / 1_000)} K characters (${database})`, {
          ms,
        });
      },
    );

    it(
      "a client that loses 30 % of its frames ends where a fresh one begins",
      { timeout: 120_000 },
      async () => {
        const pieces = makePieces(400);
        const place = await startRun(pieces, 10, ["Hm", "m"]);
        let [lost, frames] = [0, 0];
        const follow = async () => {
          const client = await connect();
          const reader = new ReplyReader(place);
          let resuming: Promise<unknown> | undefined;
          let heardAt = performance.now();
          client.socket.addEventListener("message", ({ data }) => {
            const frame = JSON.parse(String(data));
            if (frame.type !== "event" || frame.event !== "events") {
              return;
            }
            frames += 1;
            heardAt = performance.now();
            if (Math.random() < 0.3) {
              lost += 1;
            } else if (!reader.apply(frame.data)) {
              resuming ??= reader.resume(client).finally(() => (resuming = undefined));
            }
          });
          while (!reader.isDone) {
            await pause(50);
            // What was lost last is missed by nobody; silence makes a client look.
            if (performance.now() - heardAt > 1_000) {
              await (resuming ??= reader.resume(client).finally(() => (resuming = undefined)));
            }
          }
          await resuming;
          await all.admin().ended(place.chatId);
          await reader.resume(client);
          await expectWhole(reader, pieces);
          client.close();
          return reader;
        };
        const seen = await Promise.all(Array.from({ length: times(4, 20) }, follow));
        report("R27", `frames lost (${database})`, {
          "lost %": (100 * lost) / frames,
          gaps: seen.reduce((sum, { gaps }) => sum + gaps, 0),
          resumes: seen.reduce((sum, { resumes }) => sum + resumes, 0),
        });
        expect(seen.every(({ gaps }) => gaps > 0)).toBe(true);
      },
    );
  });
});
