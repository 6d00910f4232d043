import { limits } from "../limits.ts";
import { LruMap } from "./lru.ts";

/** Counts overruns by script. */
export interface Overruns {
  /** `heldMs`: the event loop stood still for so long of its thread's own time; too long counts at once. */
  add(id: string, reason: string, heldMs?: number): void;
  onRepeated(handler: (id: string, reason: string) => void): void;
}

export function createOverruns(now: () => number = () => performance.now()): Overruns {
  const handlers: ((id: string, reason: string) => void)[] = [];
  const seen = new LruMap<string, number[]>(1000);
  const tell = (id: string, reason: string) => {
    for (const handler of handlers) {
      handler(id, reason);
    }
  };
  return {
    add(id, reason, heldMs = 0) {
      if (heldMs > limits.heldMs) {
        tell(id, `it held the server up for ${Math.round(heldMs)} ms`);
        return;
      }
      const at = now();
      const recent = [...(seen.get(id) ?? []).filter((each) => at - each < limits.overrunWindowMs), at];
      // Told once for every three, not for each one after the third.
      seen.set(id, recent.length >= limits.overruns ? [] : recent);
      if (recent.length >= limits.overruns) {
        tell(id, `it overran its limits three times within a minute: ${reason}`);
      }
    },
    onRepeated: (handler) => void handlers.push(handler),
  };
}
