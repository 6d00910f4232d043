import type { Logger } from "#kernel/log.ts";
import type { Notices } from "#kernel/services.ts";

const channel = "knowledge.progress";
/** A person sees no more than two steps a second; ten thousand files at once must not ask the database more often. */
const stepMs = 500;
const silenceMs = 15_000;

/** Followers of collections, woken by announcements of this and other processes. */
export interface LinkProgress {
  start(): Promise<void>;
  /** Tells followers, in every process, that files of a collection changed. */
  announce(knowledgeId: string): void;
  /** Yields at once, then after changes, and after a silence so that a line stays open. Ends when `signal` aborts. */
  follow(knowledgeId: string, signal: AbortSignal): AsyncGenerator<"changed" | "silence">;
}

export function createLinkProgress({ notices, log }: { notices: Notices; log: Logger }): LinkProgress {
  const followers = new Map<string, Set<() => void>>();
  const waiting = new Set<string>();
  const wake = (id: string) => followers.get(id)?.forEach((wakeUp) => wakeUp());
  const send = (id: string) =>
    void notices
      .notify(channel, { id })
      .catch((error: unknown) =>
        log.warn({ err: error, collection: id }, "a collection's progress could not be announced"),
      );

  return {
    start: () =>
      notices.listen(
        channel,
        (payload) => {
          const { id } = (payload ?? {}) as { id?: unknown };
          if (typeof id === "string") {
            wake(id);
          }
        },
        () => [...followers.keys()].forEach(wake),
      ),

    announce(id) {
      if (waiting.has(id)) {
        return;
      }
      waiting.add(id);
      setTimeout(() => {
        waiting.delete(id);
        send(id);
      }, stepMs).unref();
    },

    async *follow(id, signal) {
      let changed = Promise.withResolvers<"changed">();
      const wakeUp = () => changed.resolve("changed");
      const set = followers.get(id) ?? new Set();
      followers.set(id, set.add(wakeUp));
      signal.addEventListener("abort", wakeUp);
      try {
        yield "changed";
        while (!signal.aborted) {
          const step = await orSilence(changed.promise);
          // Armed before the follower reads: a change in between is not missed.
          changed = Promise.withResolvers<"changed">();
          if (!signal.aborted) {
            yield step;
          }
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

async function orSilence(changed: Promise<"changed">): Promise<"changed" | "silence"> {
  const silence = Promise.withResolvers<"silence">();
  const timer = setTimeout(() => silence.resolve("silence"), silenceMs);
  try {
    return await Promise.race([changed, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}
