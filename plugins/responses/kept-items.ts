import type { OutputItem } from "./response.ts";

/** Output items that their caller may name by id in later requests, in the memory of this process. */
export interface KeptItems {
  keep(userId: string, items: readonly OutputItem[]): void;
  /** Undefined for an item that is another account's, was let go, or never existed. */
  find(userId: string, id: string): OutputItem | undefined;
}

/** Milliseconds: a loop of tools is over by then. */
const longest = 60 * 60_000;

/** Characters of all items together; the oldest go first. */
const most = 16 * 1024 * 1024;

/** Longer items are not kept: one answer must not push out all others. */
const largest = 1024 * 1024;

interface Kept {
  readonly item: OutputItem;
  readonly size: number;
  readonly until: number;
}

/** Creates an empty memory of items. */
export function createKeptItems(now: () => number = () => performance.now()): KeptItems {
  // In the order of arrival, and everything stays equally long, so the first is always the oldest.
  const kept = new Map<string, Kept>();
  let total = 0;
  const drop = (key: string, { size }: Kept) => {
    kept.delete(key);
    total -= size;
  };
  const letGo = () => {
    for (const [key, entry] of kept) {
      if (total <= most && entry.until > now()) {
        return;
      }
      drop(key, entry);
    }
  };
  return {
    keep(userId, items) {
      for (const item of items) {
        const size = JSON.stringify(item).length;
        if (size <= largest) {
          kept.set(`${userId} ${item.id}`, { item, size, until: now() + longest });
          total += size;
        }
      }
      letGo();
    },
    find(userId, id) {
      letGo();
      return kept.get(`${userId} ${id}`)?.item;
    },
  };
}
