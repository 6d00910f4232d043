import { limits } from "../limits.ts";
import { LruMap } from "../host/lru.ts";
import { type Script } from "#kernel/sandbox.ts";
import { keyOf } from "../host/source.ts";

/** Decides which scripts may run on the event loop's own thread. Names them by id and key of the source. */
export interface InlinePolicy {
  allows(script: Script): boolean;

  succeeded(id: string, key: string): void;
  /** A timeout now and then is the fault of garbage collection or of a busy machine; a second one soon after excludes. */
  timedOut(id: string, key: string): void;
  /** The script waits for something, or does not load: for some minutes it runs on threads only. */
  exclude(id: string, key: string): void;
}

interface History {
  readonly key: string;
  /** Calls that have to succeed before a timeout is forgiven. */
  penalty: number;
  until: number;
}

export function createInlinePolicy(now: () => number = () => performance.now()): InlinePolicy {
  const records = new LruMap<string, History>(1000);
  const find = (id: string, key: string): History => {
    const found = records.get(id);
    if (found?.key === key) {
      return found;
    }
    const record = { key, penalty: 0, until: 0 };
    records.set(id, record);
    return record;
  };
  const exclude = (id: string, key: string): void => {
    Object.assign(find(id, key), { penalty: 0, until: now() + limits.inlinePauseMs });
  };
  return {
    allows(script) {
      const found = records.get(script.id);
      return found === undefined || found.until < now() || found.key !== keyOf(script);
    },
    succeeded(id, key) {
      const record = records.get(id);
      if (record?.key === key && record.penalty > 0) {
        record.penalty -= 1;
      }
    },
    timedOut(id, key) {
      const record = find(id, key);
      if (record.penalty > limits.successesToForgive / 2) {
        exclude(id, key);
      } else {
        record.penalty += limits.successesToForgive;
      }
    },
    exclude,
  };
}
