import { setTimeout as delay } from "node:timers/promises";
import { call } from "../call.ts";
import { quantile } from "../client.ts";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
import type { Bench } from "../measure.ts";
import type { Scenario } from "../scenario.ts";
import { openReaders, type Readers } from "../socket-readers.ts";

const people = 50;
const windowsEach = 10;
const everyMs = 200;

/** A message in a channel that many windows have open: from its post until the last of them has it. */
export const channelMessages: Scenario = {
  id: "P27",
  title: "a message to a channel of 500 sockets",
  async run(bench) {
    const running = await millrace({ env: { ENABLE_CHANNELS: "true" } }).start(bench.mock.port);
    try {
      const took = await measure(bench, running);
      return [
        {
          goal: "P27",
          what: `from the post until the last of ${people * windowsEach} sockets has the message, p95`,
          values: [quantile(took, 0.95)],
          atMost: 100,
          unit: " ms",
          detail: `median ${quantile(took, 0.5).toFixed(1)} ms of ${took.length} messages`,
        },
      ];
    } finally {
      await running.stop();
    }
  },
};

async function measure(bench: Bench, running: Running): Promise<number[]> {
  const accounts = [];
  for (let at = 0; at < people; at += 1) {
    const person = {
      name: `Person ${at}`,
      email: `p${at}@many.test`,
      password: "Correct-horse-1",
      role: "user",
    };
    await call(running, "POST /api/v1/auths/add", person);
    accounts.push(
      (await call(running, "POST /api/v1/auths/signin", person)) as { id: string; token: string },
    );
  }
  let words = "";
  let missing = 0;
  let reached = Promise.withResolvers<void>();
  const onFrame = (frame: Buffer) => {
    if (words !== "" && frame.includes(words) && frame.includes('"message"')) {
      missing -= 1;
      if (missing === 0) {
        reached.resolve();
      }
    }
  };
  const readers: Readers[] = [];
  for (const { token } of accounts) {
    const headers = `authorization: Bearer ${token}\r\n`;
    readers.push(await openReaders(running.port, headers, { count: windowsEach, onFrame }));
  }
  // Sockets that are there already join it as it is made.
  const form = { name: "all", type: "group", user_ids: accounts.map(({ id }) => id) };
  const { id } = (await call(running, "POST /api/v1/channels/create", form)) as { id: string };
  const took: number[] = [];
  const messages = bench.isQuick ? 20 : 120;
  // The first ones are for the compiler.
  for (let at = -20; at < messages; at += 1) {
    [words, missing, reached] = [`Message ${at} to all`, people * windowsEach, Promise.withResolvers<void>()];
    const started = performance.now();
    await call(running, `POST /api/v1/channels/${id}/messages/post`, { content: words });
    await Promise.race([reached.promise, delay(10_000, undefined, { ref: false })]);
    if (missing > 0) {
      throw new Error(`${missing} sockets did not get a message within ten seconds.`);
    }
    if (at >= 0) {
      took.push(performance.now() - started);
    }
    await delay(everyMs);
  }
  readers.forEach((each) => each.close());
  return took;
}
