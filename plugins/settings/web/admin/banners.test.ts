import { expect, test } from "vitest";
import { createBanner, joinOrder, move, toSaved } from "./banners.ts";

const [first, second, third] = [1, 2, 3].map((n) => ({ ...createBanner(), content: `${n}` }));
if (!first || !second || !third) {
  throw new Error("three banners");
}

test("banners are moved up and down, and not over the ends", () => {
  const order = (list: { content: string }[]) => list.map(({ content }) => content).join("");
  const all = [first, second, third];
  expect([order(move(all, 0, 1)), order(move(all, 2, -1)), order(move(all, 3, 1))]).toEqual([
    "213",
    "132",
    "123",
  ]);
});

test("a banner that says something else is a new one; one that looks the same keeps its id", () => {
  const [changed, kept, added] = toSaved(
    [{ ...first, content: "other" }, { ...second, dismissible: false }, third],
    [first, second],
  );
  expect(changed?.id).not.toBe(first.id);
  expect([kept, added]).toEqual([{ ...second, dismissible: false }, third]);
});

test("the order of a window that moved banners counts, else that of the other one", () => {
  const seen = [first, second];
  const added = { ...createBanner(), id: "added" };
  const order = (stored: typeof seen, typed: typeof seen) =>
    joinOrder({ seen, stored, typed }).map((id) =>
      [first, second, third, added].findIndex((one) => one.id === id),
    );
  expect(order([second, first, third], [first, second, added])).toEqual([1, 0, 2, 3]);
  expect(order([first, second, third], [added, second, first])).toEqual([3, 1, 0, 2]);
});
