/** Time stamps that fit into a token: `@` and ten digits of microseconds. Mock and client share one process. */
export function createClock() {
  return {
    stamp: () => `@${String(Math.round(performance.now() * 1000)).padStart(10, "0")}`,
  };
}

/** Milliseconds since the stamp whose `@` stands at `at`, or undefined when it is no whole stamp. */
export function ageOf(bytes: Buffer, at: number, now: number): number | undefined {
  let micros = 0;
  for (let n = 1; n <= 10; n++) {
    const digit = (bytes[at + n] ?? 0) - 48;
    if (digit < 0 || digit > 9) {
      return undefined;
    }
    micros = micros * 10 + digit;
  }
  return micros === 0 ? undefined : now - micros / 1000;
}
