import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatServers, databaseKinds, startChatServers } from "#test/support/chat-servers.ts";
import { isFull, report, times } from "#test/support/faults.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { paced } from "#test/support/upstream-paced.ts";

const streams = times(5, 200);
const [short, long] = isFull ? [500, 8_000] : [150, 1_500];
/** Milliseconds between two tokens: 50 a second in the full form. */
const every = times(5, 20);

/** Promise R5: the cost of a stream grows with its length and no faster. */
describe.each(databaseKinds)("what a token costs on %s", (_name, database) => {
  describe("(promise R5)", () => {
    let all: ChatServers;
    beforeAll(async () => {
      all = await startChatServers({ database });
    }, 120_000);
    afterAll(() => all?.close());

    /** Microseconds of CPU and bytes on the socket of `streams` runs of this many tokens. */
    async function measure(count: number): Promise<{ cpu: number; bytes: number }> {
      const pieces = Array.from({ length: count }, (_, at) => ` t${String(at).padStart(5, "0")}`);
      const { token } = await all.addUser();
      const me = all.as(token);
      const client = await connectPlain(all.servers[0]!.url, { token });
      let bytes = 0;
      client.socket.addEventListener("message", ({ data }) => {
        bytes += Buffer.byteLength(String(data));
        client.events.length = 0;
      });
      await client.sessionId();
      const before = cpuOf(all.servers[0]!.child.pid as number);
      const chats = await Promise.all(
        Array.from({ length: streams }, async () => {
          const { chatId, replyId: id, userId } = await me.makeChat();
          all.upstream.reply("/chat/completions", paced(pieces, { every }));
          const answer = await me.complete({ chat_id: chatId, id, user_message: { id: userId } });
          expect(answer.status).toBe(200);
          return chatId;
        }),
      );
      await pause(count * every);
      for (const chatId of chats) {
        await me.ended(chatId);
      }
      const cpu = cpuOf(all.servers[0]!.child.pid as number) - before;
      client.close();
      return { cpu, bytes };
    }

    it(`${short} and ${long} tokens cost the same a token`, { timeout: 600_000 }, async () => {
      await measure(short);
      const none = await measure(1);
      const [few, many] = [await measure(short), await measure(long)];
      const perToken = (one: typeof few, count: number) => ({
        cpu: (one.cpu - none.cpu) / streams / count,
        bytes: (one.bytes - none.bytes) / streams / count,
      });
      const [a, b] = [perToken(few, short), perToken(many, long)];
      report("R5", `${streams} streams of ${short} and ${long} tokens (${database})`, {
        "bytes a token": b.bytes,
        "bytes ratio": b.bytes / a.bytes,
        "CPU µs a token": b.cpu,
        "CPU ratio": b.cpu / a.cpu,
      });
      expect(b.bytes / a.bytes).toBeLessThan(isFull ? 1.1 : 1.4);
      // The short runs of the fast form take too little CPU to be measured beside other work.
      expect(isFull ? b.cpu / a.cpu : 0).toBeLessThan(1.2);
    });
  });
});

/** Microseconds of CPU of all threads of a process so far. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  // User and system time, in ticks of a hundredth of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
