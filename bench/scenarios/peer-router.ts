import { messageRouter, millrace } from "../contestants.ts";
import { inRounds, underLoad } from "../measure.ts";
import { compare } from "../report.ts";
import { toMessage } from "../requests.ts";
import type { Scenario } from "../scenario.ts";

/** Both translate the vendor's message format for an upstream of the common one; the router keeps no accounts. */
export const peerRouter: Scenario = {
  id: "P9",
  title: "vendor messages against a published router",
  async run(bench) {
    const platform = millrace({ path: "/api/v1/messages", toBody: toMessage() });
    const [ours = [], theirs = []] = await inRounds(bench, [platform, messageRouter], async (running) => ({
      whole: await underLoad(bench, running, { model: "json", connections: 32 }),
      burst: await underLoad(bench, running, { model: "burst-200", connections: 8 }),
      paced: await underLoad(bench, running, { model: "paced-100", connections: 100 }),
    }));
    const shared = { goal: "P9", ours, theirs };
    return [
      compare({
        ...shared,
        what: "rate at 32 connections",
        figure: ({ whole }) => whole.answerRate,
        figureUnit: "requests/s",
        atLeast: 8,
      }),
      compare({
        ...shared,
        what: "burst: rate",
        figure: ({ burst }) => burst.tokenRate,
        figureUnit: "tokens/s",
        atLeast: 3.5,
      }),
      compare({
        ...shared,
        what: "paced: CPU per token",
        figure: ({ paced }) => paced.cpuPerToken,
        figureUnit: "µs",
        atMost: 0.8,
      }),
    ];
  },
};
