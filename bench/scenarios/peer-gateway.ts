import { millrace, portkey } from "../contestants.ts";
import { inRounds, underLoad } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";

/** The published gateway of another project, which neither keeps accounts nor a database. */
export const peerGateway: Scenario = {
  id: "P8",
  title: "against a published gateway",
  async run(bench) {
    const [ours = [], theirs = []] = await inRounds(bench, [millrace(), portkey], async (running) => ({
      many: await underLoad(bench, running, { model: "json", connections: 256 }),
      first: await underLoad(bench, running, { model: "burst-5", connections: 1 }),
      paced: await underLoad(bench, running, { model: "paced-100", connections: 100 }),
    }));
    const shared = { goal: "P8", ours, theirs };
    return [
      compare({
        ...shared,
        what: "rate at 256 connections",
        figure: ({ many }) => many.answerRate,
        figureUnit: "requests/s",
        atLeast: 4,
      }),
      compare({
        ...shared,
        what: "median time to the first token",
        figure: ({ first }) => first.firstToken,
        figureUnit: "ms",
        atMost: 0.05,
      }),
      compare({
        ...shared,
        what: "paced: CPU per token",
        figure: ({ paced }) => paced.cpuPerToken,
        figureUnit: "µs",
        atMost: 0.75,
      }),
    ];
  },
};
