import { millrace, rawpipe } from "../contestants.ts";
import { withFunctions } from "../functions.ts";
import { sideBySide } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";
import { pacedShape } from "./streams-against-rawpipe.ts";
import { requireFilter } from "./require-filter.ts";

const env = { CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE: "7" } as const;

/** Seven tokens joined into one chunk, through one filter: a plugin's, and a sandboxed one. */
export const joinedDeltas: Scenario = {
  id: "P6",
  title: "seven tokens a chunk through a filter",
  async run(bench) {
    const native = millrace({ plugins: "upper", env, name: "millrace with a native filter" });
    const sandboxed = withFunctions({ source: "upperCase", count: 1, owners: 1, env });
    await requireFilter(bench, native);
    await requireFilter(bench, sandboxed);
    const contestants = [native, sandboxed, rawpipe];
    const [plain = [], boxed = [], piped = []] = await sideBySide(bench, contestants, pacedShape);
    const shared = {
      goal: "P6",
      theirs: piped,
      figure: ({ cpuPerToken }: { cpuPerToken: number }) => cpuPerToken,
      figureUnit: "µs",
      atMost: 1,
    } as const;
    return [
      compare({ ...shared, what: "paced: CPU per token, native filter", ours: plain }),
      compare({ ...shared, what: "paced: CPU per token, sandboxed filter", ours: boxed }),
    ];
  },
};
