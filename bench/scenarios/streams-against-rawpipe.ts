import { type MillraceOptions, millrace, rawpipe } from "../contestants.ts";
import { type Bench, inRounds, underLoad } from "../measure.ts";
import { compare, type Finding } from "../report.ts";

export interface StreamGoals {
  readonly goal: string;
  readonly millrace: MillraceOptions;
  /** Most CPU per paced token, as a multiple of the pipe's. */
  readonly paced: number;
  /** Most CPU per burst token, and least share of the pipe's burst rate. */
  readonly burstCpu?: number;
  readonly burstRate?: number;
}

/** Measures bursts and paced streams of the platform and of the plain pipe. */
export async function againstRawpipe(bench: Bench, goals: StreamGoals): Promise<Finding[]> {
  const { goal } = goals;
  const [ours = [], theirs = []] = await inRounds(
    bench,
    [millrace(goals.millrace), rawpipe],
    async (running) => ({
      paced: await underLoad(bench, running, { model: "paced-100", connections: 100 }),
      burst: await underLoad(bench, running, { model: "burst-200", connections: 8 }),
    }),
  );
  return [
    compare({
      goal,
      what: "paced: CPU per token",
      ours,
      theirs,
      figure: ({ paced }) => paced.cpuPerToken,
      figureUnit: "µs",
      atMost: goals.paced,
    }),
    compare({
      goal,
      what: "burst: CPU per token",
      ours,
      theirs,
      figure: ({ burst }) => burst.cpuPerToken,
      figureUnit: "µs",
      ...(goals.burstCpu !== undefined && { atMost: goals.burstCpu }),
    }),
    compare({
      goal,
      what: "burst: rate",
      ours,
      theirs,
      figure: ({ burst }) => burst.tokenRate,
      figureUnit: "tokens/s",
      ...(goals.burstRate !== undefined && { atLeast: goals.burstRate }),
    }),
  ];
}
