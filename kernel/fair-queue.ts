import { AppError } from "./errors.ts";

// Work that all people share the means of (threads, engines, the database) is done in turns, so that one person's long
// queue delays nobody else's next piece. Each process takes turns for itself.

/** Decides whose piece of work is next. */
export interface Turns {
  /** The next of the people who wait; undefined while none of them may begin. */
  next(waiting: Iterable<string>): string | undefined;
  /** Counts one piece of work of a person until the function that it returns is called. */
  begin(person: string): () => void;
}

/** People whose last turn is remembered; one who is forgotten counts as new. */
const mostRemembered = 10_000;

/**
 * The person with the fewest pieces under way is next, then the one whose last turn was longest ago. At most `limit`
 * pieces are under way (0: any number), but a person without one does not wait while another has several: up to `limit`
 * people are always served beside each other, with fewer than twice as many pieces.
 */
export function createTurns(limit: () => number): Turns {
  const running = new Map<string, number>();
  const lastTurns = new Map<string, number>();
  let turn = 0;
  let total = 0;
  const runningOf = (person: string) => running.get(person) ?? 0;
  const mayBegin = (person: string) => {
    const most = limit() > 0 ? limit() : Infinity;
    return total < most || (runningOf(person) === 0 && running.size < most);
  };
  const isBefore = (one: string, other: string) =>
    runningOf(one) - runningOf(other) || (lastTurns.get(one) ?? 0) - (lastTurns.get(other) ?? 0);
  return {
    next(waiting) {
      let best: string | undefined;
      for (const person of waiting) {
        if (mayBegin(person) && (best === undefined || isBefore(person, best) < 0)) {
          best = person;
        }
      }
      return best;
    },
    begin(person) {
      turn += 1;
      total += 1;
      lastTurns.delete(person);
      lastTurns.set(person, turn);
      running.set(person, runningOf(person) + 1);
      if (lastTurns.size > mostRemembered) {
        lastTurns.delete(lastTurns.keys().next().value as string);
      }
      let hasEnded = false;
      return () => {
        if (hasEnded) {
          return;
        }
        hasEnded = true;
        total -= 1;
        if (runningOf(person) > 1) {
          running.set(person, runningOf(person) - 1);
        } else {
          running.delete(person);
        }
      };
    },
  };
}

/**
 * Runs pieces of work of people in turns. One that still waits when its signal is aborted rejects with the signal's
 * reason and never runs. Work of nobody counts as that of one person, "".
 */
export type FairQueue = <T>(person: string, work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Pieces that one person may have waiting in one queue. */
const mostWaiting = 1000;

/** A queue whose bound is read at each start; 0 is none. */
export function createFairQueue(limit: () => number): FairQueue {
  const turns = createTurns(limit);
  const waiting = new Map<string, (() => void)[]>();

  const startNext = () => {
    for (let person = turns.next(waiting.keys()); person !== undefined; person = turns.next(waiting.keys())) {
      const start = waiting.get(person)?.shift();
      forgetEmpty(person);
      start?.();
    }
  };
  const forgetEmpty = (person: string) => {
    if (waiting.get(person)?.length === 0) {
      waiting.delete(person);
    }
  };

  const enter = (person: string, signal: AbortSignal): Promise<() => void> => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const own = waiting.get(person) ?? [];
    if (own.length >= mostWaiting) {
      throw new AppError("rate_limited", `${mostWaiting} requests of yours wait already. Try again later.`, {
        retryAfter: 10,
      });
    }
    const start = () => {
      signal.removeEventListener("abort", leave);
      resolve(turns.begin(person));
    };
    const leave = () => {
      own.splice(own.indexOf(start), 1);
      forgetEmpty(person);
      reject(signal.reason);
    };
    own.push(start);
    waiting.set(person, own);
    signal.addEventListener("abort", leave, { once: true });
    startNext();
    return promise;
  };

  return async (person, work, signal) => {
    const end = await enter(person, signal);
    try {
      return await work();
    } finally {
      end();
      startNext();
    }
  };
}
