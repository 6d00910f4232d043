import { limits } from "../limits.ts";

/** What waits to cross a border, with its length in characters. */
export interface Fare {
  readonly length: number;
}

/**
 * Decides when what waits crosses, and how much of it at once. A crossing costs more than a usual hook does. So what comes
 * soon after a crossing waits for others, unless it is long or all are there; what comes after a while does not.
 */
export class Departures<F extends Fare> {
  readonly #cross: (some: readonly F[]) => void;
  #waiting: F[] = [];
  /** Characters of what waits. */
  #length = 0;
  #isLeaving = false;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer runs out. */
  #leavesAt = 0;
  #crossedAt = Number.NEGATIVE_INFINITY;
  /** What one took in the last crossing. */
  #msEach = limits.crossingMs / 16;

  constructor(cross: (some: readonly F[]) => void) {
    this.#cross = cross;
  }

  /** It goes with the next crossing, which need not be soon. */
  add(fare: F): void {
    this.#waiting.push(fare);
    this.#length += fare.length;
  }

  /**
   * Somebody waits for what was added, who would have it wait for others until `everyMs` after the last crossing; the
   * least patient of them decides. `isComplete`: nobody else is there to be waited for.
   */
  hurry(isComplete: boolean, everyMs: number): void {
    if (this.#isLeaving) {
      return;
    }
    const leavesAt = this.#crossedAt + everyMs;
    const ms = leavesAt - performance.now();
    if (isComplete || ms < 1 || this.#length >= limits.crossingWorth) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#isLeaving = true;
      // Behind the sockets that are ready now: what they bring crosses as well.
      setImmediate(this.#leave);
    } else if (this.#timer === undefined || leavesAt < this.#leavesAt) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(this.#leave, ms);
      this.#leavesAt = leavesAt;
    }
  }

  readonly #leave = (): void => {
    this.#timer = undefined;
    this.#isLeaving = false;
    const until = performance.now() + limits.crossingMs;
    let started = performance.now();
    while (this.#waiting.length > 0) {
      const some = this.#take();
      this.#cross(some);
      this.#crossedAt = performance.now();
      this.#msEach = (this.#crossedAt - started) / some.length;
      started = this.#crossedAt;
      if (started >= until && this.#waiting.length > 0) {
        // Others who are served by this thread come first.
        this.#isLeaving = true;
        setImmediate(this.#leave);
        return;
      }
    }
  };

  /** As many as are expected to be through in time, each of them being like those before. */
  #take(): F[] {
    const most = Math.max(1, limits.crossingMs / this.#msEach);
    let [count, length] = [0, 0];
    while (
      count < this.#waiting.length &&
      (count === 0 || (count < most && length < limits.crossingLength))
    ) {
      length += (this.#waiting[count] as F).length;
      count += 1;
    }
    this.#length -= length;
    return this.#waiting.splice(0, count);
  }
}
