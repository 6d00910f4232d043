import { limits } from "../limits.ts";
import { LruMap } from "../host/lru.ts";
import { type Script } from "#kernel/sandbox.ts";
import { keyOf } from "../host/source.ts";

/** Remembers which scripts are not worth a try on the event loop's own thread. Names them by id and key of the source. */
export interface Tries {
  takes(script: Script): boolean;
  /** It went well. */
  good(id: string, key: string): void;
  /**
   * It ran out of time. Now and then that is the fault of a collection of garbage or of a busy machine; again before
   * many have gone well it is its own.
   */
  late(id: string, key: string): void;
  /** It is not for here: it waits, or does not even load. */
  leave(id: string, key: string): void;
}

interface Record {
  readonly key: string;
  /** Crossings that have to go well before it is forgotten that some were late. */
  debt: number;
  until: number;
}

export function createTries(now: () => number = () => performance.now()): Tries {
  const records = new LruMap<string, Record>(1000);
  const find = (id: string, key: string): Record => {
    const found = records.get(id);
    if (found?.key === key) {
      return found;
    }
    const record = { key, debt: 0, until: 0 };
    records.set(id, record);
    return record;
  };
  const leave = (id: string, key: string): void => {
    Object.assign(find(id, key), { debt: 0, until: now() + limits.slowMs });
  };
  return {
    takes(script) {
      const found = records.get(script.id);
      return found === undefined || found.until < now() || found.key !== keyOf(script);
    },
    good(id, key) {
      const record = records.get(id);
      if (record?.key === key && record.debt > 0) {
        record.debt -= 1;
      }
    },
    late(id, key) {
      const record = find(id, key);
      if (record.debt > limits.quickAmends / 2) {
        leave(id, key);
      } else {
        record.debt += limits.quickAmends;
      }
    },
    leave,
  };
}
