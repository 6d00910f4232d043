import { millrace } from "../contestants.ts";
import type { Scenario } from "../scenario.ts";
import { againstRawpipe } from "./streams-against-rawpipe.ts";

/** Streamed completions without filters; usage is accounted for. */
export const streamed: Scenario = {
  id: "P2",
  title: "streamed completions",
  run: (bench) => againstRawpipe(bench, { goal: "P2", ours: millrace(), paced: 1.25, burstRate: 0.5 }),
};
