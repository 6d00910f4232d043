import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PGlite, Transaction } from "@electric-sql/pglite";
import type { Call, QueryResult } from "./protocol.ts";

interface OpenTransaction {
  tx: Transaction;
  end(commit: boolean): void;
  ended: Promise<void>;
  /** A statement failed, so the database may have given the transaction up. */
  failed: boolean;
}

/** Answers the calls of the main thread over the one connection there is. */
export function createSession(database: PGlite, folder: string): (call: Call) => Promise<unknown> {
  const transactions = new Map<number, OpenTransaction>();
  const exclusive = createQueue();

  function begin(id: number, settings: string): Promise<void> {
    return new Promise((resolve, reject) => {
      // PGlite's own transaction keeps every other caller out until it ends.
      const ended = exclusive(() =>
        database.transaction(async (tx) => {
          if (settings) {
            await tx.exec(`set transaction ${settings}`);
          }
          await new Promise<void>((commit, abort) => {
            const end = (good: boolean) => (good ? commit() : abort(rolledBack));
            transactions.set(id, { tx, end, ended, failed: false });
            resolve();
          });
        }),
      );
      ended.catch(reject);
    });
  }

  async function finish(id: number, commit: boolean): Promise<void> {
    const entry = requireOpen(id);
    transactions.delete(id);
    // Postgres answers the commit of a transaction it gave up with a silent rollback; asking first gives the error.
    const refusal = commit && entry.failed ? await probe(entry.tx) : undefined;
    entry.end(commit && refusal === undefined);
    await entry.ended.catch((error: unknown) => {
      if (error !== rolledBack) {
        throw error;
      }
    });
    if (refusal !== undefined) {
      throw refusal;
    }
  }

  async function query({ text, values, transaction }: Call & { op: "query" }): Promise<QueryResult> {
    if (transaction === undefined) {
      return pick(await exclusive(() => database.query(text, [...values])));
    }
    const entry = requireOpen(transaction);
    try {
      return pick(await entry.tx.query(text, [...values]));
    } catch (error) {
      entry.failed = true;
      throw error;
    }
  }

  function requireOpen(id: number): OpenTransaction {
    const entry = transactions.get(id);
    if (!entry) {
      throw new Error("The transaction has already ended");
    }
    return entry;
  }

  /** A script that failed between its own begin and commit must not leave a transaction open for the next caller. */
  function run({ text, values }: Call & { op: "run" }): Promise<QueryResult> {
    return exclusive(async () => {
      try {
        if (values.length > 0) {
          return pick(await database.query(text, [...values]));
        }
        const results = await database.exec(text);
        return { rows: results.flatMap((result) => result.rows as Record<string, unknown>[]) };
      } catch (error) {
        await database.exec("rollback");
        throw error;
      }
    });
  }

  /** The database runs without fsync: its files reach the disk when the system likes, and here for certain. */
  async function close(): Promise<void> {
    await exclusive(async () => {
      await database.exec("checkpoint");
      await database.close();
      await flush(folder);
    });
  }

  return async (call) => {
    switch (call.op) {
      case "query":
        return await query(call);
      case "run":
        return await run(call);
      case "begin":
        return await begin(call.transaction, call.settings);
      case "commit":
      case "rollback":
        return await finish(call.transaction, call.op === "commit");
      case "listen":
      case "unlisten":
        return void (await exclusive(() => database.exec(`${call.op} "${call.channel}"`)));
      case "close":
        return await close();
    }
  };
}

const rolledBack = new Error("rolled back on request");

/** Runs one after the other what needs the connection for itself: a statement, a script, a whole transaction. */
function createQueue(): <R>(run: () => Promise<R>) => Promise<R> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const result = last.then(run);
    last = result.catch(() => {});
    return result;
  };
}

async function probe(tx: Transaction): Promise<unknown> {
  try {
    await tx.query("select 1");
    return undefined;
  } catch (error) {
    return error;
  }
}

function pick(result: { rows: unknown[]; affectedRows?: number }): QueryResult {
  return { rows: result.rows as Record<string, unknown>[], affectedRows: result.affectedRows };
}

async function flush(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      await flush(path);
    } else if (entry.isFile()) {
      const file = await open(path, "r");
      await file.sync().finally(() => file.close());
    }
  }
}
