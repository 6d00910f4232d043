import { AsyncLocalStorage } from "node:async_hooks";

const contexts = new AsyncLocalStorage<true>();

/**
 * Runs a short statement that must not wait behind the others of this process: a server gives it a connection that is
 * kept for such, and little time. Meant for signs of life; the embedded database has one connection for all.
 */
export function urgently<R>(run: () => Promise<R>): Promise<R> {
  return contexts.run(true, run);
}

/** True inside of `urgently`. */
export function isUrgent(): boolean {
  return contexts.getStore() ?? false;
}
