import { describe, expect, it } from "vitest";
import { mapBatches, type Stage } from "./map-batches.ts";
import type { Pushable, Sink } from "./push.ts";

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

describe("a source that is pushed", () => {
  /** A source whose values a test sends by hand. */
  function open() {
    const asked: string[] = [];
    let sink: Sink<number> | undefined;
    const source = {
      ...numbers(0),
      [Symbol.asyncIterator]: () => source,
      pushTo(to: Sink<number>) {
        sink = to;
        return { resume: () => asked.push("resume"), abort: () => asked.push("abort") };
      },
    } as unknown as Pushable<number>;
    return { source, asked, sink: () => sink as Sink<number> };
  }

  function push<Out>(stage: Stage<number, Out>, takes: () => boolean = () => true) {
    const from = open();
    const heard: unknown[] = [];
    const flow = (mapBatches(from.source, stage) as Pushable<Out>).pushTo({
      next: (value) => (heard.push(value), takes()),
      end: () => heard.push("end"),
      failed: (error) => heard.push(`failed: ${(error as Error).message}`),
    });
    return { ...from, heard, flow };
  }

  it("goes through the stage in the same turn", () => {
    const closed: unknown[] = [];
    const { sink, heard } = push({
      next: (n) => (n === 2 ? undefined : n * 10),
      end: () => 99,
      close: (error) => closed.push(error),
    });
    expect([1, 2, 3].map((n) => sink().next(n))).toEqual([true, true, true]);
    sink().end();
    expect(heard).toEqual([10, 30, 99, "end"]);
    expect(closed).toEqual([undefined]);
  });

  it("hands the wish for a pause on", () => {
    const { sink, flow, asked } = push({ next: (n) => n }, () => false);
    expect(sink().next(1)).toBe(false);
    flow.resume();
    expect(asked).toEqual(["resume"]);
  });

  it("waits for a value that takes time to make", async () => {
    const { sink, heard, asked } = push({ next: async (n) => n * 10 });
    expect(sink().next(1)).toBe(false);
    await Promise.resolve();
    expect([heard, asked]).toEqual([[10], ["resume"]]);
  });

  it("is left when the stage fails, at once or later, and tells why once", async () => {
    for (const next of [
      () => {
        throw new Error("stage");
      },
      () => Promise.reject(new Error("stage")),
    ]) {
      const closed: unknown[] = [];
      const { sink, heard, asked } = push({ next, close: (error) => closed.push(error) });
      sink().next(1);
      await new Promise((resolve) => setImmediate(resolve));
      expect([heard, asked, closed]).toEqual([["failed: stage"], ["abort"], [new Error("stage")]]);
    }
  });

  it("is left when what comes late cannot be taken", async () => {
    const refuse = () => {
      throw new Error("sink");
    };
    const late = push({ next: async (n) => n }, refuse);
    late.sink().next(1);
    const last = push({ next: (n) => n, end: async () => 99 }, refuse);
    last.sink().end();
    await new Promise((resolve) => setImmediate(resolve));
    expect([late.heard, late.asked]).toEqual([[1, "failed: sink"], ["abort"]]);
    expect([last.heard, last.asked]).toEqual([[99, "failed: sink"], ["abort"]]);
  });

  it("that fails closes the stage with its reason", () => {
    const closed: unknown[] = [];
    const { sink, heard } = push({ next: (n) => n, close: (error) => closed.push(error) });
    sink().failed(new Error("broken"));
    expect([heard, closed]).toEqual([["failed: broken"], [new Error("broken")]]);
  });

  it("that is given up closes the stage and says nothing more", () => {
    const closed: unknown[] = [];
    const { sink, flow, heard, asked } = push({ next: (n) => n, close: (error) => closed.push(error) });
    void flow.abort();
    sink().next(1);
    sink().end();
    expect([heard, asked, closed]).toEqual([[], ["abort"], [undefined]]);
  });
});
