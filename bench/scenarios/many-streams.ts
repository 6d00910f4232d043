import { setTimeout as delay } from "node:timers/promises";
import { quantile } from "../client.ts";
import type { Running } from "../contestant.ts";
import { millrace, rawpipe } from "../contestants.ts";
import { type Bench, failOnErrors, inRounds, openLoad } from "../measure.ts";
import type { Model } from "../mock.ts";
import { compare, median, show } from "../report.ts";
import type { Scenario } from "../scenario.ts";

const streams = 256;

/** 256 streams of 50 tokens a second for a minute. */
export const manyStreams: Scenario = {
  id: "P10",
  title: "256 streams for a minute",
  async run(bench) {
    const [ours = [], theirs = []] = await inRounds(bench, [millrace(), rawpipe], (running) =>
      hold(bench, running),
    );
    const late = ours.map((each) => each.latest);
    return [
      {
        goal: "P10",
        what: "streams with missing tokens",
        values: ours.map((each) => each.incomplete),
        atMost: 0,
        unit: "",
      },
      {
        goal: "P10",
        what: "latest token",
        values: late,
        atMost: 200,
        unit: " ms",
        detail: `p99 ${show(median(ours.map((each) => each.relay99)))} ms`,
      },
      compare({
        goal: "P10",
        what: "relay time p99",
        ours,
        theirs,
        figure: (each) => each.relay99,
        figureUnit: "ms",
        atMost: 3,
      }),
    ];
  },
};

async function hold(bench: Bench, running: Running) {
  const warmUp = openLoad(running, { model: "paced-100", connections: streams });
  await delay(bench.warm);
  failOnErrors(running, warmUp.take());
  warmUp.stop();
  await delay(500);
  const model: Model = bench.isQuick ? "paced-500" : "paced-3000";
  const load = openLoad(running, { model, connections: streams });
  await load.drain();
  const counts = load.take();
  load.stop();
  failOnErrors(running, counts);
  return {
    incomplete: counts.incomplete + (streams - counts.answers),
    relay99: quantile(counts.relay, 0.99),
    latest: quantile(counts.relay, 1),
  };
}
