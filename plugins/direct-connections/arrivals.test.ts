import { expect, it } from "vitest";
import type { Json } from "#kernel/sandbox.ts";
import { createArrivals } from "./arrivals.ts";

async function readAll(items: AsyncIterable<Json>): Promise<Json[]> {
  const all: Json[] = [];
  for await (const item of items) {
    all.push(item);
  }
  return all;
}

it("items are read in the order in which they came, those that came while others were read too", async () => {
  const arrivals = createArrivals(() => null);
  const numbers = Array.from({ length: 1000 }, (_, n) => ({ n }));
  numbers.slice(0, 500).forEach((item) => arrivals.onData(item));
  const reading = readAll(arrivals);
  for (const item of numbers.slice(500)) {
    arrivals.onData(`data: ${JSON.stringify(item)}\n\n`);
    await Promise.resolve();
  }
  arrivals.onData({ done: true });
  arrivals.onData({ n: "late" });
  expect(await reading).toEqual(numbers);
});

it.each([
  ["many small ones", () => ({})],
  ["a few large ones", () => `data: {"text":"${"x".repeat(1024 * 1024)}"}`],
])("a client that sends faster than it is read fails: %s", async (_name, make) => {
  const arrivals = createArrivals(() => null);
  for (let n = 0; n < 100_000; n++) {
    arrivals.onData(make());
  }
  await expect(readAll(arrivals)).rejects.toMatchObject({ code: "rate_limited" });
});

it("a line that cannot be read ends the answer with its error", async () => {
  const arrivals = createArrivals(() => null);
  arrivals.onData({ n: 1 });
  arrivals.onData('data: {"text":"begun');
  arrivals.onData({ done: true });
  const seen: Json[] = [];
  await expect(
    (async () => {
      for await (const item of arrivals) {
        seen.push(item);
      }
    })(),
  ).rejects.toMatchObject({ code: "upstream" });
  expect(seen).toEqual([{ n: 1 }]);
});
