import { setTimeout as delay } from "node:timers/promises";
import { call } from "../call.ts";
import type { Load } from "../client.ts";
import { quantile } from "../client.ts";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
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

/** Writes and reads through the platform's own routes, as fast as `writers` callers in a row of their own can. */
function keepDatabaseBusy(running: Running) {
  let writes = 0;
  const stopped = new AbortController();
  const work = async (_: unknown, worker: number) => {
    for (let n = 0; !stopped.signal.aborted; n++) {
      const group = { name: `bench-${worker}-${n}`, description: "A group of some length. ".repeat(200) };
      const { id } = (await call(running, "POST /api/v1/groups/create", group)) as { id: string };
      const ui = { [`bench${worker}`]: "A setting of some length. ".repeat(200), turn: n };
      await call(running, "POST /api/v1/users/user/settings/update", { ui });
      await call(running, "GET /api/v1/users/?page=1");
      await call(running, `DELETE /api/v1/groups/id/${id}/delete`);
      writes += 3;
    }
  };
  const workers = Promise.all(Array.from({ length: writers }, work));
  // A failure ends the measurement when it is over, in `stop`.
  workers.catch(() => {});
  return {
    take() {
      const taken = writes;
      writes = 0;
      return taken;
    },
    async stop() {
      stopped.abort();
      await workers;
    },
  };
}
