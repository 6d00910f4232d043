import { AsyncLocalStorage } from "node:async_hooks";

const contexts = new AsyncLocalStorage<true>();

/**
 * Runs what may take the database longer than DATABASE_QUERY_TIMEOUT allows a statement: migrations, building an
 * index, waiting for a lock. Statements in it wait without a limit, so a server that goes silent holds them up.
 */
export function patiently<R>(run: () => Promise<R>): Promise<R> {
  return contexts.run(true, run);
}

/** True inside of `patiently`. */
export function isPatient(): boolean {
  return contexts.getStore() ?? false;
}
