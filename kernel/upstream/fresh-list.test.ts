import { expect, it } from "vitest";
import { createBreaker } from "#kernel/egress/breaker.ts";
import { createFreshList } from "./fresh-list.ts";

/** A list that is fetched `count` times, at a time that tests set. */
function open(staysFresh: boolean) {
  const state = { time: 0, count: 0, isDown: false };
  const now = () => state.time;
  const list = createFreshList({
    async fetch() {
      state.count += 1;
      if (state.isDown) {
        throw new Error("down");
      }
      return [state.count];
    },
    breaker: createBreaker({ threshold: 2, firstPause: 2000, longestPause: 15_000, now }),
    turned: () => {},
    isTimeout: () => false,
    staysFresh: () => staysFresh,
    now,
  });
  return { state, list };
}

it.each([
  ["is asked for anew after a while", false, [1, 2]],
  ["stays where it is to stay", true, [1, 1]],
])("a list %s", async (_what, staysFresh, expected) => {
  const { state, list } = open(staysFresh);
  await list.touch();
  state.time = 60_000;
  await list.touch();
  await new Promise((resolve) => setImmediate(resolve));
  expect([1, state.count]).toEqual(expected);
  // Whoever asks for a new one gets it.
  await list.refresh();
  expect(list.list).toEqual([(expected[1] as number) + 1]);
});

it("a list that never came is asked for although it is to stay", async () => {
  const { state, list } = open(true);
  state.isDown = true;
  await list.touch();
  state.isDown = false;
  await list.touch();
  expect(list.list).toEqual([2]);
});
