import { setTimeout as delay } from "node:timers/promises";
import { millrace } from "../contestants.ts";
import { fromTheFirst, inRounds, underLoad } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";

/** The engine clears up after eight quiet seconds, and once more a little later. */
const pause = 12_000;

/** Completions after nobody asked for any for a while: what has been compiled must still be there. */
export const afterPause: Scenario = {
  id: "pause",
  title: "completions after a pause",
  async run(bench) {
    const shape = { model: "json", connections: 32, window: 2000 } as const;
    const [rounds = []] = await inRounds(bench, [millrace()], async (running) => {
      const before = await underLoad(bench, running, shape);
      await delay(pause);
      return { before, after: await fromTheFirst(bench, running, shape) };
    });
    return [
      compare({
        goal: "pause",
        what: "CPU per request in the first 2 s after a pause",
        ours: rounds.map(({ after }) => after),
        theirs: rounds.map(({ before }) => before),
        figure: ({ cpuPerAnswer }) => cpuPerAnswer,
        figureUnit: "µs before it",
        atMost: 1.6,
      }),
    ];
  },
};
