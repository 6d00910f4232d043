import type { Bench } from "./measure.ts";
import type { Finding } from "./report.ts";

/** One question about the platform's speed; ids of goals are those of the design's list. */
export interface Scenario {
  readonly id: string;
  readonly title: string;
  run(bench: Bench): Promise<Finding[]>;
}
