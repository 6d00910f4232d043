import { randomUUID } from "node:crypto";
import type { Logger } from "#kernel/log.ts";
import type { UsageRecord } from "./tables.ts";

/** Records that are written together, under an id by which a second try is recognised. */
export interface UsageBatch {
  readonly id: string;
  readonly records: readonly UsageRecord[];
}

export interface LedgerOptions {
  /** Writes a batch; one that fails is tried again as it is. */
  insert(batch: UsageBatch): Promise<void>;
  /** Records that may wait. */
  limit(): number;
  readonly log: Logger;
}

/** Takes records at once and writes them soon. */
export interface Ledger {
  add(record: UsageRecord): void;
  /** Writes what waits; resolves when it is written, or the database does not take it. */
  flush(): Promise<void>;
}

/** Records in one statement: most of its cost is the statement, not the record. */
const batchSize = 4000;

/** Milliseconds for which a record waits for others, and the database for another try. */
const longestWait = 1000;

/** Keeps records in memory for at most a second; while the database is away, for as long as there is room. */
export function createLedger({ insert, limit, log }: LedgerOptions): Ledger {
  let waiting: UsageRecord[] = [];
  /** The batch whose fate is unknown; its records are still the first that wait. */
  let tried: UsageBatch | undefined;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let lost = 0;
  let isFailing = false;

  async function writeAll(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    try {
      // What comes meanwhile waits for others again: a statement for each handful would keep the database busy.
      for (let left = waiting.length; left > 0 || waiting.length >= batchSize;) {
        tried ??= { id: randomUUID(), records: waiting.slice(0, batchSize) };
        await insert(tried);
        waiting = waiting.slice(tried.records.length);
        left -= tried.records.length;
        tried = undefined;
      }
      turned(undefined);
    } catch (error) {
      turned(error);
    }
  }

  function ended(): void {
    running = undefined;
    if (waiting.length > 0) {
      plan();
    }
  }

  /** Told once, not for every try. */
  function turned(error: unknown): void {
    if (error !== undefined && !isFailing) {
      log.warn(
        { err: error, waiting: waiting.length },
        "usage records cannot be written; they wait in memory",
      );
    } else if (error === undefined && isFailing) {
      log.info({ lost }, "usage records are written again");
      lost = 0;
    }
    isFailing = error !== undefined;
  }

  function plan(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void write();
    }, longestWait);
    timer.unref();
  }

  // Where nothing waits, all is written before the promise is kept: it must be forgotten later than that.
  const write = (): Promise<void> => (running ??= writeAll().finally(ended));

  return {
    // What is under way may have begun before the last records came.
    flush: () => (running ? running.then(write) : write()),
    add(record) {
      if (waiting.length >= limit()) {
        lost += 1;
        if (lost === 1) {
          log.error({ waiting: waiting.length }, "usage records are lost: too many wait for the database");
        }
        return;
      }
      waiting.push(record);
      if (waiting.length >= batchSize && !isFailing) {
        void write();
      } else {
        plan();
      }
    },
  };
}
