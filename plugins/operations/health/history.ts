/** One look at a part. */
export interface Sample {
  /** Epoch seconds. */
  readonly at: number;
  /** Null where the part did not work. */
  readonly latency_ms: number | null;
}

const keptSeconds = 3600;
export const everySeconds = 60;

/** How a part did at one look. */
interface Look {
  readonly id: string;
  readonly state: "working" | "failing";
  readonly latency_ms: number | null;
}

/** The samples of the last hour of this process, oldest first, by part. */
export function createHistory(now: () => number) {
  const samples = new Map<string, Sample[]>();
  return {
    add(looks: readonly Look[]): void {
      const at = Math.floor(now() / 1000);
      for (const { id, state, latency_ms: latency } of looks) {
        const kept = (samples.get(id) ?? []).filter((sample) => sample.at > at - keptSeconds);
        samples.set(id, [...kept, { at, latency_ms: state === "working" ? latency : null }]);
      }
    },
    of: (id: string): readonly Sample[] => samples.get(id) ?? [],
  };
}
