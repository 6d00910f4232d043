import { setTimeout as pause } from "node:timers/promises";

export interface RowWriter<Row> {
  /** Resolves when the rows are written or lost, and after `maxWaitMs` in any case; never rejects. */
  add(rows: readonly Row[]): Promise<void>;
}

export interface RowWriterOptions<Row> {
  insert(rows: readonly Row[]): Promise<void>;
  /** Called when rows were lost. */
  failed(error: unknown): void;
}

/** Characters that are buffered while the database does not answer; further rows are dropped. */
const maxBuffered = 16 * 1024 * 1024;

/** Milliseconds that a caller of `add` waits. */
const maxWaitMs = 1000;

interface Batch<Row> {
  readonly rows: Row[];
  readonly written: PromiseWithResolvers<void>;
}

/** Writes rows at once, and those that come meanwhile with one statement after that. */
export function createRowWriter<Row extends { readonly size: number }>({
  insert,
  failed,
}: RowWriterOptions<Row>): RowWriter<Row> {
  let next: Batch<Row> | undefined;
  let isWriting = false;
  let buffered = 0;

  const insertAll = async (rows: readonly Row[]) => {
    try {
      await insert(rows);
    } catch (error) {
      if (rows.length === 1) {
        failed(error);
        return;
      }
      // One bad row must not cost others theirs: that of an account that was deleted meanwhile, for example.
      for (const row of rows) {
        await insert([row]).catch(failed);
      }
    }
  };
  const write = async () => {
    isWriting = true;
    while (next !== undefined) {
      const { rows, written } = next;
      next = undefined;
      await insertAll(rows);
      buffered -= sizeOf(rows);
      written.resolve();
    }
    isWriting = false;
  };

  return {
    async add(rows) {
      if (rows.length === 0 || buffered > maxBuffered) {
        return;
      }
      buffered += sizeOf(rows);
      next ??= { rows: [], written: Promise.withResolvers<void>() };
      next.rows.push(...rows);
      const { written } = next;
      if (!isWriting) {
        void write();
      }
      const done = new AbortController();
      const waited = pause(maxWaitMs, undefined, { signal: done.signal }).catch(() => {});
      await Promise.race([written.promise, waited]);
      done.abort();
    },
  };
}

function sizeOf(rows: readonly { readonly size: number }[]): number {
  return rows.reduce((sum, { size }) => sum + size, 0);
}
