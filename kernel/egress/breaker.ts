/** Spares an upstream that does not answer: after failures, calls are refused for a while, then one is let through. */
export interface Breaker {
  /** True when a call may be made now. */
  allows(): boolean;
  /** Milliseconds until a call may be made again; 0 while one may. */
  pausesFor(): number;
  succeeded(): void;
  /** `isTimeout`: one failure that cost the whole time limit counts as enough. */
  failed(isTimeout: boolean): void;
}

export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly threshold: number;
  /** Milliseconds of the first pause; each further one is twice as long. */
  readonly firstPause: number;
  readonly longestPause: number;
  /** Milliseconds of a steady clock. */
  now(): number;
}

/** Builds a closed breaker. Promise R13: it opens and closes again within 30 s. */
export function createBreaker(options: BreakerOptions): Breaker {
  let failures = 0;
  let pause = 0;
  let opensAt = 0;
  return {
    allows: () => options.now() >= opensAt,
    pausesFor: () => Math.max(0, opensAt - options.now()),
    succeeded() {
      failures = 0;
      pause = 0;
      opensAt = 0;
    },
    failed(isTimeout) {
      failures += 1;
      if (isTimeout || failures >= options.threshold) {
        pause = pause === 0 ? options.firstPause : Math.min(options.longestPause, pause * 2);
        opensAt = options.now() + pause;
      }
    },
  };
}
