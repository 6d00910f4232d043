import { expect, it } from "vitest";
import { mapBatches } from "./map-batches.ts";

async function* numbers(upTo: number, left: { count: number } = { count: 0 }) {
  try {
    for (let n = 1; n <= upTo; n++) {
      yield n;
    }
  } finally {
    left.count += 1;
  }
}

it("passes on what the stage makes, leaves out what it drops, and ends with its last value", async () => {
  const closed: unknown[] = [];
  const mapped = mapBatches(numbers(5), {
    next: (n) => (n % 2 === 0 ? undefined : n * 10),
    end: () => 99,
    close: (error) => closed.push(error),
  });
  expect(await Array.fromAsync(mapped)).toEqual([10, 30, 50, 99]);
  expect(closed).toEqual([undefined]);
  expect((await mapped.next()).done).toBe(true);
});

it("closes the source and the stage when the reader leaves early", async () => {
  const left = { count: 0 };
  let closed = 0;
  for await (const n of mapBatches(numbers(5, left), { next: (n: number) => n, close: () => closed++ })) {
    expect(n).toBe(1);
    break;
  }
  expect([left.count, closed]).toEqual([1, 1]);
});

it("tells the stage why its source failed", async () => {
  const failing = (async function* () {
    yield 1;
    throw new Error("broken");
  })();
  const closed: unknown[] = [];
  const mapped = mapBatches(failing, { next: (n) => n, close: (error) => closed.push(error) });
  expect((await mapped.next()).value).toBe(1);
  await expect(mapped.next()).rejects.toThrow("broken");
  expect(closed).toEqual([new Error("broken")]);
  expect((await mapped.next()).done).toBe(true);
});

it("leaves the source when the stage fails", async () => {
  const left = { count: 0 };
  const mapped = mapBatches(numbers(5, left), {
    next() {
      throw new Error("stage");
    },
  });
  await expect(mapped.next()).rejects.toThrow("stage");
  expect(left.count).toBe(1);
});
