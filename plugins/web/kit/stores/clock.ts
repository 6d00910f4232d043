import { createSubscriber } from "svelte/reactivity";
import { serverNow } from "./server-time.ts";

const everySecond = createSubscriber((update) => {
  const timer = setInterval(update, 1000);
  return () => clearInterval(timer);
});

/** Seconds until a moment of the server (epoch milliseconds), 0 once it has come; whatever shows them follows the clock. */
export function secondsUntil(at: number): number {
  everySecond();
  return Math.max(0, Math.ceil((at - serverNow()) / 1000));
}
