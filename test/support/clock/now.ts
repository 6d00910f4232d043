// What an expectation may say about the time at which a test runs.

/** Seconds from now until a moment, below zero when it has passed. Numbers may be seconds, milliseconds or nanoseconds. */
export function secondsUntil(moment: number | string | Date): number {
  return (toMilliseconds(moment) - Date.now()) / 1000;
}

/** Whether this moment is of the last minute; clocks of other processes and whole seconds are a little ahead. */
export function isJustNow(moment: number | string | Date): boolean {
  const seconds = secondsUntil(moment);
  return seconds > -60 && seconds < 2;
}

/** Epoch seconds, milliseconds and nanoseconds are told apart by their size. */
function toMilliseconds(moment: number | string | Date): number {
  if (typeof moment !== "number") {
    return new Date(moment).getTime();
  }
  return moment < 1e11 ? moment * 1e3 : moment < 1e15 ? moment : moment / 1e6;
}
