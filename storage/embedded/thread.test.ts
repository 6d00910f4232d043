import { readdir } from "node:fs/promises";
import { getPriority } from "node:os";
import { expect, test } from "vitest";
import { openTestDatabase } from "../testing.ts";

test("a busy database leaves the event loop free", async () => {
  const database = await openTestDatabase([], "embedded");
  let running = true;
  let turns = 0;
  const turn = () => {
    turns += 1;
    if (running) {
      setImmediate(turn);
    }
  };
  const busy = database.query("select count(*) as n from generate_series(1, 1000000)");
  setImmediate(turn);
  expect((await busy).rows).toEqual([{ n: 1_000_000 }]);
  running = false;
  // On the main thread the loop would not turn once before the answer.
  expect(turns).toBeGreaterThan(100);
  await database.close();
});

test.runIf(process.platform === "linux")("its thread steps back behind the event loop", async () => {
  const own = getPriority(process.pid);
  const database = await openTestDatabase([], "embedded");
  const threads = await readdir("/proc/self/task");
  expect(threads.map(priorityOf)).toContain(Math.min(19, own + 10));
  expect(getPriority(process.pid)).toBe(own);
  await database.close();
});

/** Undefined for a thread that has ended since it was listed. */
function priorityOf(thread: string): number | undefined {
  try {
    return getPriority(Number(thread));
  } catch {
    return undefined;
  }
}
