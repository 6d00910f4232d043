import { sql } from "kysely";
import type { Database } from "./handle.ts";
import { withoutStatementTimeout } from "./statement-timeout.ts";

/** First half of the advisory lock's key; the second is the name and schema. */
const LOCK = 771_204_114;

/**
 * Runs `run` while no other process on this database runs it under the same name. The lock sits on a connection of
 * its own, so `run` may use the pool. The embedded database has one process and needs no lock.
 */
export async function exclusively<R>(database: Database, name: string, run: () => Promise<R>): Promise<R> {
  if (database.kind === "embedded") {
    return run();
  }
  return database.db.connection().execute(async (connection) => {
    const lock = sql`select pg_advisory_lock(${LOCK}, hashtext(${name} || current_schema()))`;
    await withoutStatementTimeout(() => lock.execute(connection));
    try {
      return await run();
    } finally {
      // When the connection is gone, so is the lock.
      await sql`select pg_advisory_unlock(${LOCK}, hashtext(${name} || current_schema()))`
        .execute(connection)
        .catch(() => {});
    }
  });
}
