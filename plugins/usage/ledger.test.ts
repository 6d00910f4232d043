import { expect, it } from "vitest";
import { createLogger } from "#kernel/log.ts";
import { holdClock, passTime } from "#test/support/clock/held-clock.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { toRecord } from "./record.ts";
import { toCall } from "./usage.fixture.ts";

holdClock();
const record = toRecord(toCall({ by: "a", at: 0 }));

/** A ledger, and how many records each of its batches had; `meanwhile` runs while a batch is written. */
function open(meanwhile: (ledger: Ledger, batches: readonly number[]) => void | Promise<void>) {
  const batches: number[] = [];
  const ledger: Ledger = createLedger({
    async insert({ records }) {
      batches.push(records.length);
      // A database takes a while.
      await new Promise(setImmediate);
      await meanwhile(ledger, batches);
    },
    limit: () => 100_000,
    log: createLogger({ level: "FATAL", format: "json", stream: { write: () => true } }),
  });
  return { ledger, batches };
}

function add(ledger: Ledger, count: number): void {
  for (let n = 0; n < count; n++) {
    ledger.add(record);
  }
}

it("lets what comes while it writes wait for others", async () => {
  const { ledger, batches } = open((open, { length }) => add(open, length < 5 ? 3 : 0));
  add(ledger, 2);
  await ledger.flush();
  expect(batches).toEqual([2]);
  await passTime(1_000);
  await expect.poll(() => batches).toEqual([2, 3]);
});

it("writes what comes after a flush with nothing to write", async () => {
  const { ledger, batches } = open(() => undefined);
  await ledger.flush();
  add(ledger, 1);
  await ledger.flush();
  expect(batches).toEqual([1]);
});

it("goes on at once where what came fills a batch", async () => {
  const { ledger, batches } = open((open, { length }) => add(open, length === 1 ? 4001 : 0));
  add(ledger, 1);
  await ledger.flush();
  expect(batches).toEqual([1, 4000]);
});

it("flushes what came after the writing had begun", async () => {
  let flushed: Promise<void> | undefined;
  const { ledger, batches } = open((open, { length }) => {
    if (length === 1) {
      add(open, 5);
      flushed = open.flush();
    }
  });
  add(ledger, 1);
  await ledger.flush();
  await flushed;
  expect(batches).toEqual([1, 5]);
});

it("tries again after a try that took longer than records wait", async () => {
  const { ledger, batches } = open(async (_, { length }) => {
    if (length === 1) {
      await passTime(1_200);
      throw new Error("The database is away.");
    }
  });
  add(ledger, 1);
  const flushed = ledger.flush();
  add(ledger, 1);
  await flushed;
  await passTime(1_000);
  await expect.poll(() => batches).toEqual([1, 1, 1]);
});
