import { channel } from "node:diagnostics_channel";
import type { DatabaseConnection } from "kysely";

/** One statement, answered or failed. */
export interface QueryTime {
  readonly milliseconds: number;
  readonly error?: unknown;
}

/** Told of each statement that is over; without subscribers nothing is measured. */
export const queryEnded = channel("millrace:query");

/** Runs a statement and tells how long it took, while somebody listens. */
export function timeQuery<T>(run: () => Promise<T>): Promise<T> {
  return queryEnded.hasSubscribers ? measure(run) : run();
}

async function measure<T>(run: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    const result = await run();
    queryEnded.publish({ milliseconds: performance.now() - began } satisfies QueryTime);
    return result;
  } catch (error) {
    queryEnded.publish({ milliseconds: performance.now() - began, error } satisfies QueryTime);
    throw error;
  }
}

const timed = new WeakSet<DatabaseConnection>();

/** Connections are used again and again; each is changed once, and only while somebody listens. */
export function timeConnection(connection: DatabaseConnection): DatabaseConnection {
  if (queryEnded.hasSubscribers && !timed.has(connection)) {
    timed.add(connection);
    const execute = connection.executeQuery.bind(connection) as DatabaseConnection["executeQuery"];
    connection.executeQuery = (query, ...options) => timeQuery(() => execute(query, ...options));
  }
  return connection;
}
