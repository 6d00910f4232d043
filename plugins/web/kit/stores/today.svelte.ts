import { createSubscriber } from "svelte/reactivity";
import { serverNow } from "./server-time.ts";

const subscribe = createSubscriber((update) => {
  let timer: ReturnType<typeof setTimeout>;
  const wait = () => {
    timer = setTimeout(() => (update(), wait()), untilMidnight(new Date(serverNow())) + 1000);
  };
  wait();
  return () => clearTimeout(timer);
});

/** The present day for pages that stay open over midnight: whatever reads it is drawn again when the next day begins. */
export const today = {
  get date(): Date {
    subscribe();
    return new Date(serverNow());
  },
};

function untilMidnight(now: Date): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).getTime() - now.getTime();
}
