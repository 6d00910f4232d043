import { createSubscriber } from "svelte/reactivity";

/** Differences below this are the way of an answer and the whole seconds of its header, not a wrong clock. */
const smallestMs = 30_000;
/** Milliseconds that the server's clock is ahead of the device's. */
let ahead = 0;
let changed = (): void => undefined;

const follow = createSubscriber((update) => {
  changed = update;
  return () => (changed = () => undefined);
});

/**
 * Takes the time of an answer that was just made. A device whose clock is wrong would count times of the server from a
 * wrong present: what is read is shown as new, countdowns never end.
 */
export function learnTime(response: Response): void {
  const told = Date.parse(response.headers.get("date") ?? "");
  // An answer of the browser's own store has the time of when it was made.
  const isStored = /max-age=[1-9]/.test(response.headers.get("cache-control") ?? "");
  if (Number.isNaN(told) || isStored) {
    return;
  }
  const difference = told - Date.now();
  const next = Math.abs(difference) < smallestMs ? 0 : difference;
  // A second more or less is no reason to draw anything again.
  if (Math.abs(next - ahead) > 2000) {
    ahead = next;
    changed();
  }
}

/** The present by the server's clock, in milliseconds since 1970; whatever shows it follows a clock that is set right. */
export function serverNow(): number {
  follow();
  return Date.now() + ahead;
}
