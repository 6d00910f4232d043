import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { call } from "../call.ts";
import type { Load } from "../client.ts";
import { quantile } from "../client.ts";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
import type { WritersOptions } from "../database-writers.ts";
import { type Bench, failOnErrors, inRounds, openLoad } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";

const streams = 50;
const writers = 4;

/** Streams while the embedded database writes and reads as fast as it can. */
export const busyDatabase: Scenario = {
  id: "P14",
  title: "streams beside a busy embedded database",
  async run(bench) {
    const [seen = []] = await inRounds(bench, [millrace({ plugins: "loop-delay" })], (running) =>
      measure(bench, running),
    );
    return [
      {
        goal: "P14",
        what: "event-loop delay p99 while the database is busy",
        values: seen.map((each) => each.busy.loop99),
        atMost: 10,
        unit: " ms",
        detail: `${Math.round(seen[0]?.busy.writes ?? 0)} writes/s; idle ${seen.map((each) => each.idle.loop99.toFixed(1)).join(", ")} ms`,
      },
      compare({
        goal: "P14",
        what: "relay time p99, busy against idle",
        ours: seen.map((each) => each.busy),
        theirs: seen.map((each) => each.idle),
        figure: (each) => each.relay99,
        figureUnit: "ms",
        atMost: 3,
      }),
    ];
  },
};

async function measure(bench: Bench, running: Running) {
  const load = openLoad(running, { model: "paced-100", connections: streams });
  await delay(bench.warm);
  failOnErrors(running, load.take());
  const idle = { ...(await observe(bench, running, load)), writes: 0 };
  const work = keepDatabaseBusy(running);
  await delay(1000);
  work.take();
  load.take();
  const busy = { ...(await observe(bench, running, load)), writes: work.take() / (bench.window / 1000) };
  load.stop();
  await work.stop();
  return { idle, busy };
}

async function observe(bench: Bench, running: Running, load: Load) {
  await readLoop(running);
  await delay(bench.window);
  const counts = load.take();
  failOnErrors(running, counts);
  return { relay99: quantile(counts.relay, 0.99), loop99: await readLoop(running) };
}

/** The event-loop delay's p99 in milliseconds since the last reading. */
async function readLoop(running: Running): Promise<number> {
  const { p99 } = (await call(running, "GET /api/v1/bench/loop-delay")) as { p99: number };
  return p99;
}

interface Work {
  /** Writes since the last call. */
  take(): number;
  stop(): Promise<void>;
}

/** Keeps the database busy from a thread beside the one that reads the streams. */
function keepDatabaseBusy({ port, headers }: Running): Work {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL("../database-writers.ts", import.meta.url), {
    workerData: { port, headers, writers, shared } satisfies WritersOptions,
  });
  const ended = once(worker, "exit");
  // A failure ends the measurement when it is over, in `stop`.
  ended.catch(() => {});
  return {
    take: () => Atomics.exchange(shared, 0, 0),
    async stop() {
      Atomics.store(shared, 1, 1);
      await ended;
    },
  };
}
