import { randomUUID } from "node:crypto";
import type { Logger } from "#kernel/log.ts";
import type { Notices } from "#kernel/services.ts";
import type { FileStatus } from "./tables.ts";

export interface FileProgress {
  readonly status: FileStatus;
  /** Why processing failed. */
  readonly error?: string;
}

export interface ProgressOptions {
  readonly notices: Notices;
  readonly log: Logger;
  /** Reads where a file's processing stands; undefined when the file is gone. */
  read(id: string): Promise<FileProgress | undefined>;
  /** Longest silence of a follower, in milliseconds; 15 s when left out. */
  readonly silenceMs?: number;
}

export interface Progress {
  start(): Promise<void>;
  /** Tells the followers of a file, in every process, that something changed. */
  announce(id: string): void;
  /**
   * Yields where processing stands, then each change, until it completed or failed. Undefined stands for a
   * silence, so that a listener can keep its line open. Ends early when `signal` is aborted.
   */
  follow(id: string, signal: AbortSignal): AsyncGenerator<FileProgress | undefined>;
}

const channel = "files.progress";

/** Followers of files being processed, woken by announcements of this and other processes instead of polling. */
export function createProgress({ notices, log, read, silenceMs = 15_000 }: ProgressOptions): Progress {
  const origin = randomUUID();
  const followers = new Map<string, Set<() => void>>();
  const wake = (id: string) => followers.get(id)?.forEach((wakeUp) => wakeUp());

  return {
    start: () =>
      notices.listen(
        channel,
        (payload) => {
          const notice = payload as { id?: unknown; origin?: unknown };
          if (typeof notice?.id === "string" && notice.origin !== origin) {
            wake(notice.id);
          }
        },
        () => [...followers.keys()].forEach(wake),
      ),

    announce(id) {
      wake(id);
      // Others look for themselves after a silence, so a notice that is lost only delays them.
      notices
        .notify(channel, { id, origin })
        .catch((error: unknown) =>
          log.warn({ err: error, file: id }, "a file's progress could not be announced"),
        );
    },

    async *follow(id, signal) {
      let changed = Promise.withResolvers<void>();
      const wakeUp = () => changed.resolve();
      const set = followers.get(id) ?? new Set();
      followers.set(id, set.add(wakeUp));
      signal.addEventListener("abort", wakeUp);
      try {
        let last: string | undefined;
        while (!signal.aborted) {
          // Armed before reading: a change in between is not missed.
          changed = Promise.withResolvers<void>();
          const progress = (await read(id)) ?? { status: "failed", error: "The file was deleted." };
          const text = JSON.stringify(progress);
          yield text === last ? undefined : progress;
          last = text;
          if (progress.status !== "pending") {
            return;
          }
          await within(changed.promise, silenceMs);
        }
      } finally {
        signal.removeEventListener("abort", wakeUp);
        set.delete(wakeUp);
        if (set.size === 0 && followers.get(id) === set) {
          followers.delete(id);
        }
      }
    },
  };
}

async function within(changed: Promise<void>, ms: number): Promise<void> {
  const silence = Promise.withResolvers<void>();
  const timer = setTimeout(silence.resolve, ms);
  await Promise.race([changed, silence.promise]);
  clearTimeout(timer);
}
