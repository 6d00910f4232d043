import { millrace } from "../contestants.ts";
import type { Scenario } from "../scenario.ts";
import { againstRawpipe } from "./streams-against-rawpipe.ts";

/** Streams that are only passed on. */
export const passThrough: Scenario = {
  id: "P1",
  title: "pass-through of streams",
  run: (bench) =>
    againstRawpipe(bench, {
      goal: "P1",
      ours: millrace({ path: "/compat/chat/completions" }),
      paced: 1,
      burstCpu: 1,
    }),
};
