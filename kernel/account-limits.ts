import { AppError } from "./errors.ts";

// Limits per account keep one person from taking what all share. Each process counts for itself: with several replicas
// an account gets the limit on each. A limit of 0 is switched off.

/** How many things of one kind an account may have under way at once. */
export interface ConcurrencyLimit {
  /** Throws `rate_limited` while the account has as many under way as it may. */
  require(userId: string): void;
  /** The same, and counts one more until the function that it returns is called; calling that again does nothing. */
  enter(userId: string): () => void;
}

export function createConcurrencyLimit({
  limit,
  what,
}: {
  limit(): number;
  /** `completions`: for the message. */
  readonly what: string;
}): ConcurrencyLimit {
  const running = new Map<string, number>();
  const requireRoom = (userId: string) => {
    const most = limit();
    if (most > 0 && (running.get(userId) ?? 0) >= most) {
      throw new AppError("rate_limited", `You have ${most} ${what} under way already. Wait for one to end.`, {
        retryAfter: 1,
      });
    }
  };
  return {
    require: requireRoom,
    enter(userId) {
      requireRoom(userId);
      running.set(userId, (running.get(userId) ?? 0) + 1);
      let hasLeft = false;
      return () => {
        if (hasLeft) {
          return;
        }
        hasLeft = true;
        const left = (running.get(userId) ?? 1) - 1;
        if (left > 0) {
          running.set(userId, left);
        } else {
          running.delete(userId);
        }
      };
    },
  };
}

/** How many bytes an account may use within a minute. */
export interface ByteLimit {
  /** Counts bytes. Throws `rate_limited` when they go beyond the limit; a single use is never too large for it. */
  take(userId: string, bytes: number): void;
}

const windowMs = 60_000;

export function createByteLimit({
  limit,
  what,
  now = Date.now,
}: {
  limit(): number;
  /** `imports and clones`: for the message. */
  readonly what: string;
  now?(): number;
}): ByteLimit {
  const uses = new Map<string, { at: number; bytes: number }[]>();
  return {
    take(userId, bytes) {
      const most = limit();
      if (most === 0) {
        return;
      }
      for (const [id, list] of uses) {
        const recent = list.filter(({ at }) => at > now() - windowMs);
        if (recent.length === 0) {
          uses.delete(id);
        } else {
          uses.set(id, recent);
        }
      }
      const own = uses.get(userId) ?? [];
      const used = own.reduce((sum, use) => sum + use.bytes, 0);
      if (used > 0 && used + bytes > most) {
        const retryAfter = untilRoom(own, { room: most - bytes, now: now() }) / 1000;
        throw new AppError("rate_limited", `Your ${what} take more than ${most} bytes a minute.`, {
          retryAfter,
        });
      }
      uses.set(userId, [...own, { at: now(), bytes }]);
    },
  };
}

/** Milliseconds until so much has gone out of the window that what is left of it fits into `room`. */
function untilRoom(
  uses: readonly { readonly at: number; readonly bytes: number }[],
  { room, now }: { room: number; now: number },
): number {
  let left = uses.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { at, bytes } of uses) {
    left -= bytes;
    if (left <= Math.max(0, room)) {
      return at + windowMs - now;
    }
  }
  return windowMs;
}
