import { limits } from "./limits.ts";
import { LruMap } from "./lru.ts";

/** Counts overruns by script. */
export interface Overruns {
  add(id: string, reason: string): void;
  onRepeated(handler: (id: string, reason: string) => void): void;
}

export function createOverruns(now: () => number = () => performance.now()): Overruns {
  const handlers: ((id: string, reason: string) => void)[] = [];
  const seen = new LruMap<string, number[]>(1000);
  return {
    add(id, reason) {
      const at = now();
      const recent = [...(seen.get(id) ?? []).filter((each) => at - each < limits.overrunWindowMs), at];
      // Told once for every three, not for each one after the third.
      seen.set(id, recent.length >= limits.overruns ? [] : recent);
      if (recent.length >= limits.overruns) {
        for (const handler of handlers) {
          handler(id, reason);
        }
      }
    },
    onRepeated: (handler) => void handlers.push(handler),
  };
}
