import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, vi } from "vitest";

/**
 * Gives a suite the clock of its process: Date and timers go on by themselves, and `passTime` lets time pass at once.
 * Stands before the `beforeAll` that starts the app: timers that were set earlier stay on the machine's clock, as do
 * `node:timers/promises` and the clock of the database.
 */
export function holdClock(): void {
  const { timeout } = AbortSignal;
  beforeAll(async () => {
    startTimerOfUndici();
    for (const end of ends) {
      await end();
    }
    vi.useFakeTimers({
      toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"],
      shouldAdvanceTime: true,
      advanceTimeDelta: 5,
    });
    AbortSignal.timeout = timeoutOfClock;
  });
  afterAll(() => {
    AbortSignal.timeout = timeout;
    vi.useRealTimers();
  });
}

const ends = new Set<() => Promise<void>>();

/** Names something that ends what runs in the worker between suites, before a suite holds the clock. */
export function beforeClockIsHeld(end: () => Promise<void>): void {
  ends.add(end);
}

/**
 * The HTTP client measures all its timeouts by one timer, which it keeps for ever. Made while the clock is held, it would
 * never fire again in the suites that come after.
 */
function startTimerOfUndici(): void {
  const timers = createRequire(import.meta.url)("undici/lib/util/timers.js") as {
    setFastTimeout(run: () => void, ms: number): object;
    clearFastTimeout(timer: object): void;
  };
  timers.clearFastTimeout(timers.setFastTimeout(() => {}, 2_000));
}

function timeoutOfClock(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(
    () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")),
    ms,
  ).unref();
  return controller.signal;
}

/** Lets time pass in steps that leave room for the work of each timer. */
export async function passTime(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    await vi.advanceTimersByTimeAsync(Math.min(left, stepMs));
    await new Promise(setImmediate);
  }
}

/** Lets time pass ten times as fast until this is done. */
export async function fastForward<T>(work: Promise<T>): Promise<T> {
  const done = work.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([done, pause(10, false)]))) {
    await passTime(100);
  }
  return await work;
}

/** Sets the clock forward and fires nothing of what was due in between, as after the sleep of a machine. */
export function leap(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

const stepMs = 500;
