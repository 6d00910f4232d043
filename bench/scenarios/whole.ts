import { millrace, rawpipe } from "../contestants.ts";
import { withFunctions } from "../functions.ts";
import { inTurns } from "../in-turns.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";

/** Completions that are not streamed. */
export const whole: Scenario = {
  id: "P7",
  title: "whole completions",
  async run(bench) {
    const filtering = withFunctions({ source: "bothEnds", count: 1, owners: 1 });
    const dense = { model: "json", connections: 32 } as const;
    const [ours = [], filtered = [], theirs = []] = await inTurns(
      bench,
      [millrace(), filtering, rawpipe],
      dense,
    );
    const single = { model: "json", connections: 1 } as const;
    const [oursAlone = [], theirsAlone = []] = await inTurns(bench, [millrace(), rawpipe], single);
    const shared = { goal: "P7", ours, theirs };
    return [
      compare({
        ...shared,
        what: "CPU per request with sandboxed inlet and outlet",
        ours: filtered,
        figure: ({ cpuPerAnswer }) => cpuPerAnswer,
        figureUnit: "µs",
        atMost: 2.2,
      }),
      compare({
        ...shared,
        what: "CPU per request at 32 connections",
        figure: ({ cpuPerAnswer }) => cpuPerAnswer,
        figureUnit: "µs",
        atMost: 1.6,
      }),
      compare({
        goal: "P7",
        what: "median answer time at 1 connection",
        ours: oursAlone,
        theirs: theirsAlone,
        figure: ({ answerTime }) => answerTime,
        figureUnit: "ms",
        atMost: 2,
      }),
      compare({
        ...shared,
        what: "rate at 32 connections",
        figure: ({ answerRate }) => answerRate,
        figureUnit: "requests/s",
      }),
    ];
  },
};
