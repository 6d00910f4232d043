import { rawpipe } from "../contestants.ts";
import { withFunctions } from "../functions.ts";
import { sideBySide } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";
import { pacedShape } from "./streams-against-rawpipe.ts";
import { requireFilter } from "./require-filter.ts";

/** Seven tokens joined into one chunk, through one sandboxed filter. */
export const joinedDeltas: Scenario = {
  id: "P6",
  title: "seven tokens a chunk through a sandboxed filter",
  async run(bench) {
    const ours = withFunctions({
      source: "upperCase",
      count: 1,
      owners: 1,
      env: { CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE: "7" },
    });
    await requireFilter(bench, ours);
    const [joined = [], piped = []] = await sideBySide(bench, [ours, rawpipe], pacedShape);
    return [
      compare({
        goal: "P6",
        what: "paced: CPU per token",
        ours: joined,
        theirs: piped,
        figure: (figures) => figures.cpuPerToken,
        figureUnit: "µs",
        atMost: 1,
      }),
    ];
  },
};
