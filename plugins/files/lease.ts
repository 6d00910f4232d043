import type { Order, ProcessStore } from "./process-store.ts";

/** Says that a worker lives, until it stops; the signal is aborted once a newer order overtook its own. */
export function keepLease(
  store: ProcessStore,
  order: Order,
  leaseSeconds: number,
): { readonly lost: AbortSignal; stop(): void } {
  const lost = new AbortController();
  const timer = setInterval(
    () => {
      store.renew(order, leaseSeconds).then(
        (mine) => mine || lost.abort(new Error("a newer order overtook this one")),
        // The database is away for a moment: the next beat comes before the lease ends.
        () => undefined,
      );
    },
    (leaseSeconds * 1000) / 3,
  );
  return { lost: lost.signal, stop: () => clearInterval(timer) };
}

/** Leaves work that ignores its signal behind, so that no processor can hold a file for ever. */
export async function bounded<R>(work: Promise<R>, signal: AbortSignal): Promise<R> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  work.catch(() => undefined);
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
