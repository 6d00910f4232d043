import type { Journal } from "../reply/journal.ts";
import type { LiveRun } from "./live-run.ts";
import { isTemporary } from "#plugins/completions/service.ts";

/** What is left of a run that has ended. */
export interface EndedRun {
  readonly journal: Journal;
  snapshot(): Record<string, unknown>;
}

interface MessageKey {
  readonly userId: string;
  readonly chatId: string;
  readonly messageId: string;
}

/** Runs of temporary chats that have ended: whoever was away then finds the reply nowhere else. */
export interface EndedRuns {
  keep(run: LiveRun): void;
  find(key: MessageKey): EndedRun | undefined;
}

const keptMs = 5 * 60_000;
const keptRuns = 1_000;
const keptChars = 32 * 1024 * 1024;

export function createEndedRuns(): EndedRuns {
  const kept = new Map<string, EndedRun & { readonly size: number; readonly timer: NodeJS.Timeout }>();
  let chars = 0;
  const drop = (key: string) => {
    const run = kept.get(key);
    if (run !== undefined) {
      clearTimeout(run.timer);
      kept.delete(key);
      chars -= run.size;
    }
  };
  return {
    keep({ start: { principal, placed, reply: asked }, journal, reply }) {
      if (!isTemporary(placed.chatId) || !reply.hasEnded) {
        return;
      }
      const { chatId } = placed;
      const key = toKey({ userId: principal.userId, chatId, messageId: asked.messageId });
      const message = reply.snapshot();
      const size = lengthOf(message) + journal.size;
      drop(key);
      if (size > keptChars) {
        return;
      }
      const timer = setTimeout(() => drop(key), keptMs).unref();
      kept.set(key, { journal, snapshot: () => message, size, timer });
      chars += size;
      for (const oldest of kept.keys()) {
        if (kept.size <= keptRuns && chars <= keptChars) {
          break;
        }
        drop(oldest);
      }
    },
    find: (key) => kept.get(toKey(key)),
  };
}

/** About how many characters a value takes as JSON; writing it out would take its time and room. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") {
    return value.length + 2;
  }
  return typeof value === "object" && value !== null
    ? Object.entries(value).reduce((sum, [key, inner]) => sum + key.length + 4 + lengthOf(inner), 2)
    : 8;
}

function toKey({ userId, chatId, messageId }: MessageKey): string {
  return JSON.stringify([userId, chatId, messageId]);
}
