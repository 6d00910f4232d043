import { afterAll, beforeAll } from "vitest";

interface Closable {
  close(): unknown;
}

/** Has a server or the like closed when the suite ends, the last one first. */
export type Keep = <Thing extends Closable>(thing: Thing | Promise<Thing>) => Promise<Thing>;

/** Starts what the tests of a suite share; what is kept is closed after them, also when the start has failed midway. */
export function setUp(prepare: (keep: Keep) => Promise<void>, patienceMs?: number): void {
  const kept: Promise<Closable>[] = [];
  const keep: Keep = (thing) => {
    const promise = Promise.resolve(thing);
    kept.push(promise);
    return promise;
  };
  beforeAll(() => prepare(keep), patienceMs);
  afterAll(async () => {
    const things = await Promise.allSettled(kept.splice(0));
    await closeAll(things.flatMap((thing) => (thing.status === "fulfilled" ? [thing.value] : [])));
  });
}

/** Closes the last first, and all of them even when one fails. */
export async function closeAll(things: readonly Closable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const thing of things.toReversed()) {
    try {
      await thing.close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 1) {
    throw failures[0];
  }
  if (failures.length > 1) {
    throw new AggregateError(failures, failures.map(String).join("\n"));
  }
}
