import type { Contestant } from "../contestant.ts";
import { rawpipe } from "../contestants.ts";
import { type Bench, inRounds, sideBySide, underLoad } from "../measure.ts";
import { compare, type Finding } from "../report.ts";

export interface StreamGoals {
  readonly goal: string;
  readonly ours: Contestant;
  /** Most CPU per paced token, as a multiple of the pipe's. */
  readonly paced: number;
  /** Most CPU per burst token, and least share of the pipe's burst rate. */
  readonly burstCpu?: number;
  readonly burstRate?: number;
}

/** A hundred people who read along: 50 tokens a second each. */
export const pacedShape = { model: "paced-100", connections: 100 } as const;

/** Measures bursts and paced streams of the platform and of the plain pipe. */
export async function againstRawpipe(bench: Bench, goals: StreamGoals): Promise<Finding[]> {
  const { goal } = goals;
  const contestants = [goals.ours, rawpipe];
  const [paced = [], pacedPipe = []] = await sideBySide(bench, contestants, pacedShape);
  const [burst = [], burstPipe = []] = await inRounds(bench, contestants, (running) =>
    underLoad(bench, running, { model: "burst-200", connections: 8 }),
  );
  return [
    compare({
      goal,
      what: "paced: CPU per token",
      ours: paced,
      theirs: pacedPipe,
      figure: ({ cpuPerToken }) => cpuPerToken,
      figureUnit: "µs",
      atMost: goals.paced,
    }),
    compare({
      goal,
      what: "burst: CPU per token",
      ours: burst,
      theirs: burstPipe,
      figure: ({ cpuPerToken }) => cpuPerToken,
      figureUnit: "µs",
      ...(goals.burstCpu !== undefined && { atMost: goals.burstCpu }),
    }),
    compare({
      goal,
      what: "burst: rate",
      ours: burst,
      theirs: burstPipe,
      figure: ({ tokenRate }) => tokenRate,
      figureUnit: "tokens/s",
      ...(goals.burstRate !== undefined && { atLeast: goals.burstRate }),
    }),
  ];
}
