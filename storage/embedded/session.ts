import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PGlite, Transaction } from "@electric-sql/pglite";
import { copyFiles } from "./copy.ts";
import type { Call, QueryResult } from "./protocol.ts";

interface OpenTransaction {
  tx: Transaction;
  end(commit: boolean): void;
  ended: Promise<void>;
  /** A statement failed, so the database may have given the transaction up. */
  failed: boolean;
}

/** Answers the calls of the main thread over the one connection there is. */
export class Session {
  readonly #database: PGlite;
  readonly #folder: string;
  readonly #transactions = new Map<number, OpenTransaction>();
  readonly #exclusive = createQueue();

  constructor(database: PGlite, folder: string) {
    this.#database = database;
    this.#folder = folder;
  }

  /** Does what a call asks; errors are the database's own. */
  async answer(call: Call): Promise<unknown> {
    switch (call.op) {
      case "query":
        return await this.#query(call);
      case "run":
        return await this.#run(call);
      case "begin":
        return await this.#begin(call.transaction, call.settings);
      case "commit":
      case "rollback":
        return await this.#finish(call.transaction, call.op === "commit");
      case "listen":
      case "unlisten":
        return void (await this.#exclusive(() => this.#database.exec(`${call.op} "${call.channel}"`)));
      case "copy":
        return await this.#copy(call.target);
      case "close":
        return await this.#close();
    }
  }

  #begin(id: number, settings: string): Promise<void> {
    return new Promise((resolve, reject) => {
      // PGlite's own transaction keeps every other caller out until it ends.
      const ended = this.#exclusive(() =>
        this.#database.transaction(async (tx) => {
          if (settings) {
            await tx.exec(`set transaction ${settings}`);
          }
          await new Promise<void>((commit, abort) => {
            const end = (good: boolean) => (good ? commit() : abort(rolledBack));
            this.#transactions.set(id, { tx, end, ended, failed: false });
            resolve();
          });
        }),
      );
      ended.catch(reject);
    });
  }

  async #finish(id: number, commit: boolean): Promise<void> {
    const entry = this.#requireOpen(id);
    this.#transactions.delete(id);
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

  async #query({ text, values, transaction }: Call & { op: "query" }): Promise<QueryResult> {
    if (transaction === undefined) {
      return pick(await this.#exclusive(() => this.#database.query(text, [...values])));
    }
    const entry = this.#requireOpen(transaction);
    try {
      return pick(await entry.tx.query(text, [...values]));
    } catch (error) {
      entry.failed = true;
      throw error;
    }
  }

  #requireOpen(id: number): OpenTransaction {
    const entry = this.#transactions.get(id);
    if (!entry) {
      throw new Error("The transaction has already ended");
    }
    return entry;
  }

  /** A script that failed between its own begin and commit must not leave a transaction open for the next caller. */
  #run({ text, values }: Call & { op: "run" }): Promise<QueryResult> {
    return this.#exclusive(async () => {
      try {
        if (values.length > 0) {
          return pick(await this.#database.query(text, [...values]));
        }
        const results = await this.#database.exec(text);
        return { rows: results.flatMap((result) => result.rows as Record<string, unknown>[]) };
      } catch (error) {
        await this.#database.exec("rollback");
        throw error;
      }
    });
  }

  /** Between two statements the files are those of a server that died just now: the next start reads the log. */
  async #copy(target: string): Promise<void> {
    await this.#exclusive(async () => {
      await this.#database.exec("checkpoint");
      await copyFiles(this.#folder, target);
    });
  }

  /** The database runs without fsync: its files reach the disk when the system likes, and here for certain. */
  async #close(): Promise<void> {
    await this.#exclusive(async () => {
      await this.#database.exec("checkpoint");
      await this.#database.close();
      await flush(this.#folder);
    });
  }
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
