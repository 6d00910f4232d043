import { setTimeout as delay } from "node:timers/promises";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
import { type Bench, failOnErrors, inRounds, openLoad } from "../measure.ts";
import { show } from "../report.ts";
import type { Scenario } from "../scenario.ts";

const clients = 100;

/** 100 clients that leave in the middle of their stream, again and again. */
export const abandonedStreams: Scenario = {
  id: "P11",
  title: "100 clients leave mid-stream",
  async run(bench) {
    const [seen = []] = await inRounds(bench, [millrace()], (running) => abandon(bench, running));
    const memory = seen.map((each) => `${show(each.before)} MB before, ${show(each.after)} MB after`);
    return [
      {
        goal: "P11",
        what: "dead processes",
        values: seen.map((each) => (each.isAlive ? 0 : 1)),
        atMost: 0,
        unit: "",
      },
      {
        goal: "P11",
        what: "upstream streams closed within",
        values: seen.map((each) => each.closed),
        atMost: 1000,
        unit: " ms",
      },
      {
        goal: "P11",
        what: "memory after ten more waves",
        values: seen.map((each) => each.after / each.before),
        atMost: 1.1,
        unit: "×",
        detail: memory.join("; "),
      },
    ];
  },
};

async function abandon(bench: Bench, running: Running) {
  // The heap grows to its working size first; only growth beyond it is a leak.
  const settle = async () => {
    const load = openLoad(running, { model: "burst-200", connections: 8 });
    await delay(bench.warm);
    failOnErrors(running, load.take());
    load.stop();
    await delay(bench.isQuick ? 1000 : 5000);
    return running.memory();
  };
  await waves(bench, running);
  const before = await settle();
  const closed = await waves(bench, running);
  const after = await settle();
  return { before, after, closed, isAlive: running.isAlive() };
}

/** The slowest of ten waves. */
async function waves(bench: Bench, running: Running): Promise<number> {
  let slowest = 0;
  for (let n = 0; n < 10; n++) {
    slowest = Math.max(slowest, await wave(bench, running));
  }
  return slowest;
}

/** Milliseconds from the clients' leaving until the mock writes no stream any more. */
async function wave(bench: Bench, running: Running): Promise<number> {
  const load = openLoad(running, { model: "paced-3000", connections: clients });
  await reach(() => bench.mock.streams() === clients, "all streams run");
  await delay(300);
  failOnErrors(running, load.take());
  load.stop();
  const left = performance.now();
  await reach(() => bench.mock.streams() === 0, "all upstream streams are closed");
  return performance.now() - left;
}

async function reach(isTrue: () => boolean, what: string): Promise<void> {
  for (const until = performance.now() + 10_000; !isTrue(); await delay(2)) {
    if (performance.now() > until) {
      throw new Error(`waited ten seconds in vain until ${what}`);
    }
  }
}
