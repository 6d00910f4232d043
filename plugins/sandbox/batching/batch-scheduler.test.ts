import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { BatchScheduler } from "./batch-scheduler.ts";
import { limits } from "../limits.ts";

interface Item {
  readonly text: string;
  readonly length: number;
}

const everyMs = 5;

/** Crossings as they came, each with the texts it carried. */
function openScheduler(ms: (some: readonly Item[]) => number = () => 0, every = everyMs) {
  const crossings: string[][] = [];
  const scheduler = new BatchScheduler<Item>((some) => {
    crossings.push(some.map(({ text }) => text));
    const until = performance.now() + ms(some);
    while (performance.now() < until) {
      // It takes its time.
    }
  });
  const add = (text: string, flushNow = false, ms = every) => {
    scheduler.add({ text, length: text.length });
    scheduler.schedule({ flushNow, maxDelayMs: ms });
  };
  return { crossings, scheduler, add };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("carries what comes in one turn together, after a pause without waiting", async () => {
  const { crossings, add } = openScheduler();
  add("a");
  add("b");
  expect(crossings).toEqual([]);
  await turn();
  expect(crossings).toEqual([["a", "b"]]);
});

it("has what comes right after a crossing wait for others, and leaves nothing behind", async () => {
  const { crossings, add } = openScheduler();
  add("a");
  await turn();
  add("b");
  await turn();
  add("c");
  expect(crossings).toEqual([["a"]]);
  await expect.poll(() => crossings).toEqual([["a"], ["b", "c"]]);
  await delay(2 * everyMs);
  add("d");
  await turn();
  expect(crossings.at(-1)).toEqual(["d"]);
});

it("waits as long as the least patient would", async () => {
  const patient = 60_000;
  const { crossings, add } = openScheduler(() => 0, patient);
  add("a");
  await turn();
  add("b");
  await delay(2 * everyMs);
  expect(crossings).toEqual([["a"]]);
  add("c", false, 4 * everyMs);
  add("d");
  await expect.poll(() => crossings).toEqual([["a"], ["b", "c", "d"]]);
});

it("does not let long texts wait, nor what waits with them", async () => {
  const { crossings, add } = openScheduler();
  const long = "x".repeat(limits.crossingWorth);
  add("a");
  await turn();
  add("b");
  add(long);
  await turn();
  expect(crossings).toEqual([["a"], ["b", long]]);
});

it("takes what nobody waits for along, later", async () => {
  const { crossings, scheduler, add } = openScheduler();
  scheduler.add({ text: "end", length: 3 });
  await turn();
  expect(crossings).toEqual([]);
  add("a");
  await turn();
  expect(crossings).toEqual([["end", "a"]]);
});

it("carries no more than is through in time, and lets others have their turn", async () => {
  const { crossings, add } = openScheduler((some) => some.length);
  for (let n = 0; n < 60; n++) {
    add(String(n));
  }
  let turns = 0;
  for (; crossings.flat().length < 60; turns++) {
    await turn();
  }
  expect(crossings.flat()).toEqual(Array.from({ length: 60 }, (_, n) => String(n)));
  expect(crossings.slice(1).every(({ length }) => length <= limits.crossingMs)).toBe(true);
  expect(turns).toBeGreaterThan(5);
});

it("does not carry more characters than one crossing may", async () => {
  const { crossings, add } = openScheduler();
  const half = "x".repeat(limits.crossingLength / 2 + 1);
  [half, half, half].forEach((text) => add(text));
  await turn();
  expect(crossings.map(({ length }) => length)).toEqual([2, 1]);
});

it("has nothing wait beyond its turn where nothing may", async () => {
  const { crossings, add } = openScheduler(() => 0, 0);
  for (const text of ["a", "b", "c"]) {
    add(text);
    await turn();
  }
  expect(crossings).toEqual([["a"], ["b"], ["c"]]);
});

it("has nothing wait when all are there", async () => {
  const { crossings, add } = openScheduler();
  add("a");
  await turn();
  add("b");
  await turn();
  expect(crossings).toEqual([["a"]]);
  add("c", true);
  await turn();
  expect(crossings).toEqual([["a"], ["b", "c"]]);
});
