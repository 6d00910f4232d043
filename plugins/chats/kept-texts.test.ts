import { expect, it } from "vitest";
import { keepTexts } from "./kept-texts.ts";

const million = 1024 * 1024;
const textOf = (length: number) => "x".repeat(length);

it("gives texts back that were read before, all of them or none", () => {
  const kept = keepTexts();
  kept.add(new Map([["a", "1"]]));
  kept.add(new Map([["b", "2"]]));
  expect(kept.get(["b", "a"])?.get("a")).toBe("1");
  expect(kept.get(["a", "c"])).toBeUndefined();
  kept.end();
  expect(kept.get(["a"])).toBeUndefined();
});

it("keeps nothing of what is too long for one answer", () => {
  const kept = keepTexts();
  kept.add(new Map([["a", textOf(40 * million)]]));
  expect(kept.get(["a"])).toBeDefined();
  kept.add(new Map([["b", textOf(40 * million)]]));
  expect(kept.get(["a"])).toBeUndefined();
  kept.add(new Map([["c", "3"]]));
  expect(kept.get(["c"])).toBeUndefined();
});

it("shares the room of all answers, and gets it back from those that end", () => {
  const long = new Map([["a", textOf(50 * million)]]);
  const [first, second, third] = [keepTexts(), keepTexts(), keepTexts()];
  [first, second, third].forEach((kept) => kept.add(long));
  expect([first, second, third].map((kept) => kept.get(["a"]) !== undefined)).toEqual([true, true, false]);
  first.end();
  const fourth = keepTexts();
  fourth.add(long);
  expect(fourth.get(["a"])).toBeDefined();
  [second, fourth].forEach((kept) => kept.end());
});
