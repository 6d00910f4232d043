import type { Job } from "#kernel/jobs.ts";
import type { Logger } from "#kernel/log.ts";
import type { Blobs } from "#storage/blobs.ts";
import { seconds } from "#storage/clock.ts";
import type { ListStore } from "./list-store.ts";
import { beganAt, blobPrefix } from "./uploads.ts";

export interface SweepOptions {
  readonly lists: ListStore;
  readonly blobs: Blobs;
  readonly log: Logger;
  /** Removes the files of accounts that are gone. */
  removeOwnerless(): Promise<void>;
}

const strayAfter = 3600;
// A live upload touches its file at least every half minute, or it is refused as too slow.
const halfWrittenAfterMs = 300_000;
const together = 500;

/** Jobs that remove what crashes left behind: bytes without a row, and files without an owner. */
export function createSweep({ lists, blobs, log, removeOwnerless }: SweepOptions): {
  jobs: readonly Job[];
  sweepStrays(): Promise<number>;
} {
  // A long upload has an old key and no row until its last byte is stored; its row then follows at once. So only
  // bytes that two sweeps in a row found without a row are strays.
  let suspects = new Set<string>();

  async function sweepStrays(): Promise<number> {
    const found = new Set<string>();
    let removed = 0;
    for (const batch of batches((await blobs.keys(blobPrefix)).filter(isOld))) {
      const known = await lists.knownPaths(batch);
      for (const path of batch.filter((candidate) => !known.has(candidate))) {
        if (suspects.has(path)) {
          await blobs.remove(path);
          removed += 1;
        } else {
          found.add(path);
        }
      }
    }
    suspects = found;
    if (removed > 0) {
      log.info({ removed }, "bytes without a file were removed");
    }
    return removed;
  }

  return {
    sweepStrays,
    jobs: [
      {
        id: "files.temporary",
        title: "Removes half-written uploads",
        every: 240,
        run: () => blobs.sweepTemporary(halfWrittenAfterMs).then(() => undefined),
      },
      {
        id: "files.sweep",
        title: "Removes stored bytes that belong to no file",
        every: 900,
        run: () => sweepStrays().then(() => undefined),
      },
      {
        id: "files.ownerless",
        title: "Removes files of deleted accounts",
        every: 3600,
        run: removeOwnerless,
      },
    ],
  };
}

function isOld(path: string): boolean {
  const began = beganAt(path);
  return began !== undefined && began < seconds() - strayAfter;
}

function* batches(paths: readonly string[]): Generator<string[]> {
  for (let at = 0; at < paths.length; at += together) {
    yield paths.slice(at, at + together);
  }
}
