import {
  CompiledQuery,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import { toParameter } from "../values.ts";
import type { EmbeddedClient } from "./client.ts";
import type { QueryResult as PlainResult } from "./protocol.ts";

/**
 * Kysely over the database thread. Kysely's own dialect for this database shares one connection object between
 * all callers; here each has its own, so that a statement can never slip into someone else's transaction.
 */
export function embeddedDialect(client: EmbeddedClient): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(client),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

let transactions = 0;

class EmbeddedConnection implements DatabaseConnection {
  readonly client: EmbeddedClient;
  /** Number of the running transaction, if any. */
  transaction: number | undefined;

  constructor(client: EmbeddedClient) {
    this.client = client;
  }

  async executeQuery<R>(compiled: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, affectedRows } = await this.client.call<PlainResult>({
      op: "query",
      text: compiled.sql,
      values: compiled.parameters.map(toParameter),
      transaction: this.transaction,
    });
    const numAffectedRows = affectedRows === undefined ? undefined : BigInt(affectedRows);
    return { rows: rows as R[], numAffectedRows };
  }

  // oxlint-disable-next-line require-yield -- the interface asks for an iterator
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("The embedded database cannot stream rows");
  }

  async begin(settings: TransactionSettings): Promise<void> {
    transactions += 1;
    const number = transactions;
    const isolation = settings.isolationLevel ? `isolation level ${settings.isolationLevel}` : "";
    const given = [isolation, settings.accessMode ?? ""].filter((part) => part !== "");
    await this.client.call({ op: "begin", transaction: number, settings: given.join(", ") });
    this.transaction = number;
  }

  async end(op: "commit" | "rollback"): Promise<void> {
    const number = this.transaction;
    if (number !== undefined) {
      this.transaction = undefined;
      await this.client.call({ op, transaction: number });
    }
  }
}

function createDriver(client: EmbeddedClient): Driver {
  const of = (connection: DatabaseConnection) => connection as EmbeddedConnection;
  const savepoint = (command: string) => async (connection: DatabaseConnection, name: string) => {
    await connection.executeQuery(CompiledQuery.raw(`${command} "${name.replaceAll('"', '""')}"`));
  };
  return {
    init: async () => {},
    acquireConnection: async () => new EmbeddedConnection(client),
    releaseConnection: async () => {},
    beginTransaction: (connection, settings) => of(connection).begin(settings),
    commitTransaction: (connection) => of(connection).end("commit"),
    rollbackTransaction: (connection) => of(connection).end("rollback"),
    savepoint: savepoint("savepoint"),
    rollbackToSavepoint: savepoint("rollback to savepoint"),
    releaseSavepoint: savepoint("release savepoint"),
    destroy: async () => {},
  };
}
