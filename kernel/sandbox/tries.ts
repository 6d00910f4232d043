import { limits } from "./limits.ts";
import { LruMap } from "./lru.ts";
import { type Script } from "./sandbox.ts";
import { keyOf } from "./source.ts";

/** Remembers which scripts are not worth a try on the event loop's own thread. Names them by id and key of the source. */
export interface Tries {
  takes(script: Script): boolean;
  /** It went well. */
  good(id: string, key: string): void;
  /** It ran out of time: once may be the fault of a collection of garbage or of a busy machine, twice is its own. */
  late(id: string, key: string): void;
  /** It is not for here: it waits, or does not even load. */
  leave(id: string, key: string): void;
}

interface Record {
  readonly key: string;
  late: number;
  good: number;
  until: number;
}

export function createTries(now: () => number = () => performance.now()): Tries {
  const records = new LruMap<string, Record>(1000);
  const find = (id: string, key: string): Record => {
    const found = records.get(id);
    if (found?.key === key) {
      return found;
    }
    const record = { key, late: 0, good: 0, until: 0 };
    records.set(id, record);
    return record;
  };
  const leave = (id: string, key: string): void => {
    Object.assign(find(id, key), { late: 0, good: 0, until: now() + limits.slowMs });
  };
  return {
    takes(script) {
      const found = records.get(script.id);
      return found === undefined || found.until < now() || found.key !== keyOf(script);
    },
    good(id, key) {
      const record = records.get(id);
      if (record?.key === key && record.late > 0 && ++record.good >= limits.quickAmends) {
        Object.assign(record, { late: 0, good: 0 });
      }
    },
    late(id, key) {
      const record = find(id, key);
      record.late += 1;
      record.good = 0;
      if (record.late >= limits.quickMisses) {
        leave(id, key);
      }
    },
    leave,
  };
}
