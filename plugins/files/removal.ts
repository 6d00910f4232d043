import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import type { Blobs } from "#storage/blobs.ts";
import type { ListStore } from "./list-store.ts";
import type { Progress } from "./progress.ts";
import { toRecord } from "./record.ts";
import type { FileObserver } from "./service.ts";
import type { FileStore } from "./store.ts";

export interface RemovalOptions {
  readonly store: FileStore;
  readonly lists: ListStore;
  readonly blobs: Blobs;
  readonly observers: Slot<FileObserver>;
  readonly progress: Progress;
  readonly log: Logger;
}

export interface Removal {
  /** Removes files; ids that do not exist are passed over. */
  remove(ids: readonly string[]): Promise<void>;
  /** Removes one account's files, or with null all there are. */
  removeAllOf(userId: string | null): Promise<void>;
  /** Removes the files of accounts that are gone. */
  removeOwnerless(): Promise<void>;
}

const atOnce = 200;

/** Removes files: rows first, bytes after, so that a crash in between leaves bytes without a row for the sweep. */
export function createRemoval({ store, lists, blobs, observers, progress, log }: RemovalOptions): Removal {
  async function remove(ids: readonly string[]): Promise<void> {
    const removed = await store.remove(ids);
    const records = removed.map(({ facts }) => toRecord(facts));
    for (const observer of records.length === 0 ? [] : observers.list()) {
      await observer
        .removed?.(records)
        .catch((error: unknown) =>
          log.warn({ err: error, observer: observer.id }, "an observer of removed files failed"),
        );
    }
    for (const { facts, path } of removed) {
      progress.announce(facts.id);
      if (path !== null) {
        await blobs
          .remove(path)
          .catch((error: unknown) =>
            log.warn({ err: error, path }, "a file's bytes stay until the next sweep"),
          );
      }
    }
  }

  async function removeEach(next: () => Promise<string[]>): Promise<void> {
    for (let ids = await next(); ids.length > 0; ids = await next()) {
      await remove(ids);
    }
  }

  return {
    remove,
    removeAllOf: (userId) => removeEach(() => lists.someIds(userId, atOnce)),
    removeOwnerless: () => removeEach(() => lists.ownerlessIds(atOnce)),
  };
}
