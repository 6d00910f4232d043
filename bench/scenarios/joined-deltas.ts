import { millrace, rawpipe } from "../contestants.ts";
import { sideBySide } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";
import { pacedShape } from "./streams-against-rawpipe.ts";
import { requireFilter } from "./require-filter.ts";

/** Seven tokens joined into one chunk, through one native filter. */
export const joinedDeltas: Scenario = {
  id: "P6",
  title: "seven tokens a chunk through a native filter",
  async run(bench) {
    const ours = millrace({ plugins: "upper", env: { CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE: "7" } });
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
