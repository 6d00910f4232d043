import type { Bus } from "./bus.ts";

type Deliver = (text: string) => void;

/** A bus within this process. `pass` decides what becomes of a text that is sent; it rejects where the bus is away. */
export function makeLocalBus(
  pass: (text: string, deliver: Deliver) => void | Promise<void> = (text, deliver) => deliver(text),
) {
  const listeners: { handler(text: string): void; onGap(): void }[] = [];
  const deliver: Deliver = (text) => listeners.forEach(({ handler }) => handler(text));
  const connect = (): Bus => ({
    send: async (text) => pass(text, deliver),
    async listen(handler, onGap) {
      listeners.push({ handler, onGap });
    },
    ping: async () => {},
    close: async () => {},
  });
  return { listeners, deliver, connect };
}
