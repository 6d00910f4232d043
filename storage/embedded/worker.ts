import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite, type Transaction } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { fromInt8 } from "../values.ts";
import {
  toPlainError,
  type Call,
  type QueryResult,
  type Reply,
  type Request,
  type WorkerOptions,
} from "./protocol.ts";

// The database runs in a thread of its own because a statement blocks the thread it runs on.

const port = parentPort!;
const options = workerData as WorkerOptions;
const post = (reply: Reply) => port.postMessage(reply);

/** Parsers and serializers that make values the same as from a server; see values.ts. */
const text = (value: string) => value;
const int8 = 20;
const json = 114;
const date = 1082;
const interval = 1186;
const jsonb = 3802;

function serializeJson(value: unknown): string {
  if (Array.isArray(value)) {
    throw new Error(
      "An array for a json column must be given as toJson(value): a bare array is a Postgres array",
    );
  }
  return String(value);
}

const toText = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value));

async function openPglite(): Promise<PGlite> {
  const database = await PGlite.create({
    dataDir: options.folder,
    extensions: { vector },
    parsers: { [int8]: fromInt8, [date]: text, [interval]: text },
    serializers: {
      [json]: serializeJson,
      [jsonb]: serializeJson,
      0: toText,
      25: toText,
      1042: toText,
      1043: toText,
    },
  });
  await database.exec("create extension if not exists vector");
  if (options.schema) {
    await database.exec(
      `create schema if not exists "${options.schema}"; set search_path to "${options.schema}", public`,
    );
  }
  return database;
}

/** Open transactions: each holds the only connection until `end` is called. */
interface OpenTransaction {
  tx: Transaction;
  end(commit: boolean): void;
  ended: Promise<void>;
  /** A statement failed, so the database may have given the transaction up. */
  failed: boolean;
}
const transactions = new Map<number, OpenTransaction>();
const subscriptions = new Map<string, () => Promise<void>>();
const rolledBack = new Error("rolled back on request");

/** Runs one after the other what needs the connection for itself: a statement, a script or a whole transaction. */
let queue: Promise<unknown> = Promise.resolve();
function exclusive<R>(run: () => Promise<R>): Promise<R> {
  const result = queue.then(run);
  queue = result.catch(() => {});
  return result;
}

function begin(database: PGlite, id: number, isolation?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // PGlite's own transaction keeps every other caller out until it ends.
    const ended = exclusive(() =>
      database.transaction(async (tx) => {
        if (isolation) {
          await tx.exec(`set transaction ${isolation}`);
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
  const entry = transactions.get(id);
  if (!entry) {
    throw new Error("The transaction has already ended");
  }
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

async function query(database: PGlite, call: Call & { op: "query" }): Promise<QueryResult> {
  const { text, values, transaction } = call;
  if (transaction === undefined) {
    return pick(await exclusive(() => database.query(text, [...values])));
  }
  const entry = transactions.get(transaction);
  if (!entry) {
    throw new Error("The transaction has already ended");
  }
  try {
    return pick(await entry.tx.query(text, [...values]));
  } catch (error) {
    entry.failed = true;
    throw error;
  }
}

async function probe(tx: Transaction): Promise<unknown> {
  try {
    await tx.query("select 1");
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Raw SQL for job queues: a script that failed between its own begin and commit must not leave a transaction open. */
async function run(database: PGlite, call: Call & { op: "run" }): Promise<QueryResult> {
  const { text, values } = call;
  return await exclusive(async () => {
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

function pick(result: { rows: unknown[]; affectedRows?: number }): QueryResult {
  return { rows: result.rows as Record<string, unknown>[], affectedRows: result.affectedRows };
}

async function listen(database: PGlite, channel: string): Promise<void> {
  await exclusive(async () => {
    if (!subscriptions.has(channel)) {
      const stop = await database.listen(quote(channel), (payload) =>
        post({ kind: "notification", channel, payload }),
      );
      subscriptions.set(channel, stop);
    }
  });
}

async function unlisten(channel: string): Promise<void> {
  await exclusive(async () => {
    await subscriptions.get(channel)?.();
    subscriptions.delete(channel);
  });
}

/** The database runs without fsync, so that its files reach the disk by the system's own pace, and here for certain. */
async function close(database: PGlite): Promise<void> {
  await exclusive(async () => {
    await database.exec("checkpoint");
    await database.close();
    await flushFolder(options.folder);
  });
}

async function flushFolder(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      await flushFolder(path);
    } else if (entry.isFile()) {
      const file = await open(path, "r");
      await file.sync().finally(() => file.close());
    }
  }
}

function quote(channel: string): string {
  return `"${channel}"`;
}

function handle(database: PGlite, call: Call): Promise<unknown> {
  switch (call.op) {
    case "query":
      return query(database, call);
    case "run":
      return run(database, call);
    case "begin":
      return begin(database, call.transaction, call.isolation);
    case "commit":
    case "rollback":
      return finish(call.transaction, call.op === "commit");
    case "listen":
      return listen(database, call.channel);
    case "unlisten":
      return unlisten(call.channel);
    case "close":
      return close(database);
  }
}

try {
  const database = await openPglite();
  port.on("message", (request: Request) => {
    handle(database, request).then(
      (result) => post({ kind: "done", id: request.id, result }),
      (error: unknown) => post({ kind: "failed", id: request.id, error: toPlainError(error) }),
    );
  });
  post({ kind: "opened", hasVector: true });
} catch (error) {
  post({ kind: "refused", error: toPlainError(error) });
}
