import { millrace, rawpipe } from "../contestants.ts";
import { withFunctions } from "../functions.ts";
import { inRounds, underLoad } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";

/** Completions that are not streamed. */
export const whole: Scenario = {
  id: "P7",
  title: "whole completions",
  async run(bench) {
    const [ours = [], theirs = []] = await inRounds(bench, [millrace(), rawpipe], async (running) => ({
      many: await underLoad(bench, running, { model: "json", connections: 32 }),
      one: await underLoad(bench, running, { model: "json", connections: 1 }),
    }));
    const [filtered = [], piped = []] = await inRounds(
      bench,
      [withFunctions({ source: "bothEnds", count: 1, owners: 1 }), rawpipe],
      (running) => underLoad(bench, running, { model: "json", connections: 32 }),
    );
    const shared = { goal: "P7", ours, theirs };
    return [
      compare({
        goal: "P7",
        what: "CPU per request with sandboxed inlet and outlet",
        ours: filtered,
        theirs: piped,
        figure: ({ cpuPerAnswer }) => cpuPerAnswer,
        figureUnit: "µs",
        atMost: 2.2,
      }),
      compare({
        ...shared,
        what: "CPU per request at 32 connections",
        figure: ({ many }) => many.cpuPerAnswer,
        figureUnit: "µs",
        atMost: 1.6,
      }),
      compare({
        ...shared,
        what: "median answer time at 1 connection",
        figure: ({ one }) => one.answerTime,
        figureUnit: "ms",
        atMost: 2,
      }),
      compare({
        ...shared,
        what: "rate at 32 connections",
        figure: ({ many }) => many.answerRate,
        figureUnit: "requests/s",
      }),
    ];
  },
};
