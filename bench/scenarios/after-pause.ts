import { setTimeout as delay } from "node:timers/promises";
import { millrace } from "../contestants.ts";
import { fromTheFirst, inRounds, underLoad } from "../measure.ts";
import { compare, median } from "../report.ts";
import type { Scenario } from "../scenario.ts";

/** Well over the eight idle seconds after which V8's memory reducer runs. */
const pauseMs = 18_000;
/** The reducer does not run in each of them. */
const pauses = 4;

/** Completions after an idle pause: V8 gives memory back in it (P20) and drops compiled code. Reported, not bounded. */
export const afterPause: Scenario = {
  id: "pause",
  title: "completions after a pause",
  async run(bench) {
    const shape = { model: "json", connections: 32, window: 2000 } as const;
    const [rounds = []] = await inRounds(bench, [millrace()], async (running) => {
      const before = (await underLoad(bench, running, shape)).cpuPerAnswer;
      const after: number[] = [];
      for (let n = 0; n < pauses; n++) {
        await delay(pauseMs);
        after.push((await fromTheFirst(bench, running, shape)).cpuPerAnswer);
      }
      return { before, after: median(after) };
    });
    return [
      compare({
        goal: "pause",
        what: "CPU per request in the first 2 s after a pause",
        ours: rounds.map(({ after }) => after),
        theirs: rounds.map(({ before }) => before),
        figure: (cpu) => cpu,
        figureUnit: "µs before it",
      }),
    ];
  },
};
