import { millrace } from "../contestants.ts";
import type { Scenario } from "../scenario.ts";
import { requireFilter } from "./require-filter.ts";
import { againstRawpipe } from "./streams-against-rawpipe.ts";

/** Streamed completions through one native filter. */
export const filtered: Scenario = {
  id: "P3",
  title: "streamed completions through a native filter",
  async run(bench) {
    const ours = millrace({ plugins: "upper" });
    await requireFilter(bench, ours);
    return againstRawpipe(bench, { goal: "P3", ours, paced: 1.4, burstRate: 0.35 });
  },
};
