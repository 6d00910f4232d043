import { createHash } from "node:crypto";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type { Pool, PoolClient, QueryResult } from "pg";
import { isSilence, isStalePlan, UnavailableError } from "../errors.ts";
import { hasNoStatementTimeout } from "../statement-timeout.ts";
import { usesReservedConnection } from "../reserved-connection.ts";

/** How many different statements are kept prepared on each connection. */
const MAX_PREPARED = 400;

/**
 * A pool for kysely whose repeated statements are parsed and planned once per connection. What may not wait takes a
 * connection of `reserved` instead.
 */
export function preparingPool(pool: Pool, reserved: Pool): PostgresPool {
  const names = createNames();
  const wrapped = new WeakMap<PoolClient, PostgresPoolClient>();
  return {
    async connect() {
      const client = await (usesReservedConnection() ? reserved : pool).connect();
      let entry = wrapped.get(client);
      if (!entry) {
        entry = wrap(client, names);
        wrapped.set(client, entry);
      }
      return entry;
    },
    options: pool.options,
    // The owner of the pools ends them; one serves raw statements too.
    end: async () => {},
  };
}

/** Names for statements seen at least twice, until the table is full; all others stay unnamed. */
export interface StatementNames {
  nameOf(text: string): string | undefined;
  forget(text: string): void;
}

/** Creates the table of names, bounded by `limit` so that lists of ever new length cannot fill it. */
export function createNames(limit = MAX_PREPARED): StatementNames {
  const names = new Map<string, string>();
  const seenOnce = new Set<string>();
  return {
    nameOf(text) {
      const name = names.get(text);
      if (name || names.size >= limit || text.length > 10_000 || !PREPARABLE.test(text)) {
        return name;
      }
      if (!seenOnce.delete(text)) {
        if (seenOnce.size >= limit) {
          seenOnce.clear();
        }
        seenOnce.add(text);
        return undefined;
      }
      const fresh = `s_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
      names.set(text, fresh);
      return fresh;
    },
    forget: (text) => void names.delete(text),
  };
}

const PREPARABLE = /^\s*(select|insert|update|delete|with)\b/i;

/** The limit of a statement that may take longer than others: the longest that a timer takes. */
export function ownLimit(): { query_timeout?: number } {
  return hasNoStatementTimeout() ? { query_timeout: 2 ** 31 - 1 } : {};
}

function wrap(client: PoolClient, names: StatementNames): PostgresPoolClient {
  let inTransaction = false;
  let isSilent = false;
  /** The driver's types do not know the limit of a single statement. */
  const send = async (statement: {
    name?: string;
    text: string;
    values: unknown[];
  }): Promise<QueryResult> => {
    if (isSilent) {
      throw new UnavailableError("The database does not answer on this connection");
    }
    try {
      return await client.query({ ...statement, ...ownLimit() });
    } catch (error) {
      isSilent ||= isSilence(error);
      throw error;
    }
  };
  const query = async (text: string, values: readonly unknown[] = []): Promise<QueryResult> => {
    if (BEGIN.test(text)) {
      inTransaction = true;
    } else if (END.test(text)) {
      inTransaction = false;
    }
    const name = names.nameOf(text);
    try {
      return await send({ name, text, values: [...values] });
    } catch (error) {
      if (!isStalePlan(error)) {
        throw error;
      }
      // Another process changed the table. The broken plan goes with the name; outside a transaction
      // the statement had no effect and can run again.
      names.forget(text);
      if (inTransaction) {
        throw error;
      }
      return await send({ text, values: [...values] });
    }
  };
  return {
    query: query as unknown as PostgresPoolClient["query"],
    // An answer that comes late would be taken for that of the next statement.
    release: (discard?: boolean) => client.release(discard || isSilent),
    // Kysely reads it to tell which backend it may have to cancel.
    processID: (client as PoolClient & { processID?: number }).processID,
  };
}

const BEGIN = /^\s*(begin|start transaction)\b/i;
const END = /^\s*(commit|rollback)\s*$/i;
