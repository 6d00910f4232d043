import { expect, it } from "vitest";
import { createFairQueue, createTurns } from "./fair-queue.ts";

const never = new AbortController().signal;

/** A queue whose pieces end when they are told to, and the names of those that began. */
function openQueue(limit: number) {
  const queue = createFairQueue(() => limit);
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (person: string, piece: string, signal = never) =>
    queue(
      person,
      () => {
        began.push(piece);
        return new Promise<void>((resolve) => ends.set(piece, resolve));
      },
      signal,
    );
  const end = async (piece: string) => {
    await new Promise(setImmediate);
    ends.get(piece)?.();
    await new Promise(setImmediate);
  };
  return { add, began, end };
}

it("a person who waits behind a long queue of another is next", async () => {
  const { add, began, end } = openQueue(1);
  void add("a", "a1");
  void add("a", "a2");
  void add("a", "a3");
  void add("b", "b1");
  void add("b", "b2");
  for (const piece of ["a1", "b1", "a2", "b2"]) {
    await end(piece);
  }
  expect(began).toEqual(["a1", "b1", "a2", "b2", "a3"]);
});

it("a person alone has the whole queue, and one who comes later does not wait for the end of long pieces", async () => {
  const { add, began, end } = openQueue(2);
  void add("a", "a1");
  void add("a", "a2");
  void add("a", "a3");
  await new Promise(setImmediate);
  expect(began).toEqual(["a1", "a2"]);
  void add("b", "b1");
  await new Promise(setImmediate);
  expect(began).toEqual(["a1", "a2", "b1"]);
  // Two people are served beside each other, which is the limit; a third waits for one of them.
  void add("c", "c1");
  void add("b", "b2");
  await end("a1");
  expect(began).toEqual(["a1", "a2", "b1"]);
  await end("a2");
  expect(began).toEqual(["a1", "a2", "b1", "c1"]);
  await end("b1");
  expect(began).toEqual(["a1", "a2", "b1", "c1", "a3"]);
});

it("a piece whose signal is aborted while it waits never runs, and keeps nobody back", async () => {
  const { add, began, end } = openQueue(1);
  const controller = new AbortController();
  void add("a", "a1");
  const given = add("b", "b1", controller.signal);
  void add("c", "c1");
  controller.abort(new Error("no longer wanted"));
  await expect(given).rejects.toThrow("no longer wanted");
  await end("a1");
  expect(began).toEqual(["a1", "c1"]);
});

it("a limit of 0 is none", () => {
  const turns = createTurns(() => 0);
  for (let count = 0; count < 100; count += 1) {
    expect(turns.next(["a"])).toBe("a");
    turns.begin("a");
  }
});
