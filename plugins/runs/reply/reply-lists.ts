import type { ReplyListKey } from "#plugins/chats/service.ts";

/** The entries that a run adds to the lists of its message; others may add to the stored lists as well. */
export interface ReplyLists {
  /** `seq` is the number of the event that shows the entries. */
  add(key: ReplyListKey, entries: readonly unknown[], seq: number): void;
  /** Every entry of this run, in the order of the stored lists. */
  all(): Partial<Record<ReplyListKey, unknown[]>>;
  /** Entries that are not stored yet; until `failed` is called they count as stored. */
  take(): TakenLists;
  /** The entries taken last could not be stored, or it is unknown whether they were. */
  failed(): void;
}

export interface TakenLists {
  readonly lists: Partial<Record<ReplyListKey, readonly unknown[]>>;
  readonly numbers: Partial<Record<ReplyListKey, readonly number[]>>;
}

interface Entry {
  readonly value: unknown;
  readonly seq: number;
}

/** New files and embeds stand before older ones (contract §3.4). */
const newestFirst: ReadonlySet<ReplyListKey> = new Set(["files", "embeds"]);

export function createReplyLists(): ReplyLists {
  const entries = new Map<ReplyListKey, Entry[]>();
  /** How many of each list were taken, and how many before the last time. */
  let taken = new Map<ReplyListKey, number>();
  let takenBefore = taken;
  const ordered = (key: ReplyListKey, list: readonly Entry[]) =>
    newestFirst.has(key) ? list.toReversed() : list;
  return {
    add(key, values, seq) {
      const added = values.map((value) => ({ value, seq }));
      // Those of one event keep their order, whichever way the list is read.
      entries.set(key, [...(entries.get(key) ?? []), ...ordered(key, added)]);
    },
    all: () =>
      Object.fromEntries(
        [...entries].map(([key, list]) => [key, ordered(key, list).map(({ value }) => value)]),
      ),
    take() {
      const fresh = [...entries].map(
        ([key, list]) => [key, ordered(key, list.slice(taken.get(key) ?? 0))] as const,
      );
      const used = fresh.filter(([, list]) => list.length > 0);
      takenBefore = taken;
      taken = new Map([...entries].map(([key, list]) => [key, list.length]));
      return {
        lists: Object.fromEntries(used.map(([key, list]) => [key, list.map(({ value }) => value)])),
        numbers: Object.fromEntries(used.map(([key, list]) => [key, list.map(({ seq }) => seq)])),
      };
    },
    failed() {
      taken = takenBefore;
    },
  };
}
