import { withFunctions } from "../functions.ts";
import { sideBySide } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";
import { requireFilter } from "./require-filter.ts";
import { againstRawpipe, pacedShape } from "./streams-against-rawpipe.ts";

const one = { source: "upperCase", count: 1, owners: 1 } as const;

/** Streamed completions through one sandboxed filter. */
export const sandboxed: Scenario = {
  id: "P4",
  title: "streamed completions through a sandboxed filter",
  async run(bench) {
    const ours = withFunctions(one);
    await requireFilter(bench, ours);
    return againstRawpipe(bench, { goal: "P4", ours, paced: 1.65, burstRate: 0.27 });
  },
};

/** Streamed completions through five sandboxed filters: of one owner, in one isolate, and of five owners. */
export const fiveSandboxed: Scenario = {
  id: "P5",
  title: "five sandboxed filters against one",
  async run(bench) {
    const five = { ...one, count: 5 };
    const contestants = [withFunctions(one), withFunctions(five), withFunctions({ ...five, owners: 5 })];
    await requireFilter(bench, contestants[2]!);
    const [single = [], sameOwner = [], owners = []] = await sideBySide(bench, contestants, pacedShape);
    const shared = {
      goal: "P5",
      theirs: single,
      figure: ({ cpuPerToken }: { cpuPerToken: number }) => cpuPerToken,
      figureUnit: "µs",
    } as const;
    return [
      compare({ ...shared, what: "paced: CPU per token, one owner", ours: sameOwner, atMost: 1.3 }),
      compare({ ...shared, what: "paced: CPU per token, five owners", ours: owners, atMost: 2.5 }),
    ];
  },
};
