import { AsyncLocalStorage } from "node:async_hooks";

const contexts = new AsyncLocalStorage<true>();

/**
 * Runs a short statement on a connection of its own with a short timeout, so that it does not wait behind others of this
 * process. Meant for heartbeats. The embedded database has one connection for all.
 */
export function withReservedConnection<R>(run: () => Promise<R>): Promise<R> {
  return contexts.run(true, run);
}

/** True inside `withReservedConnection`. */
export function usesReservedConnection(): boolean {
  return contexts.getStore() ?? false;
}
