import { AsyncLocalStorage } from "node:async_hooks";

const contexts = new AsyncLocalStorage<true>();

/**
 * Lifts DATABASE_QUERY_TIMEOUT for the statements in `run`: migrations, building an index, waiting for a lock. A server
 * that stops responding blocks them without limit.
 */
export function withoutStatementTimeout<R>(run: () => Promise<R>): Promise<R> {
  return contexts.run(true, run);
}

/** True inside `withoutStatementTimeout`. */
export function hasNoStatementTimeout(): boolean {
  return contexts.getStore() ?? false;
}
