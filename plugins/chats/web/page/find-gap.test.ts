import { expect, test } from "vitest";
import { findGap } from "./find-gap.ts";

const at = (start: number, end = start) => ({ start, end });

test("the gap of a prompt is where its text goes", () => {
  const announced = "Rewrite the following text:\n\n";
  expect(findGap(announced)).toEqual(at(announced.length));
  const fenced = "Find the mistake:\n\n```ts\n\n```";
  expect(findGap(fenced)).toEqual(at(fenced.indexOf("```ts\n") + 6));
  expect(findGap("Translate [your text] into German.")).toEqual(at(10, 21));
});

test("a prompt that is whole has no gap", () => {
  expect(findGap("Explain how a water wheel turns.")).toBeUndefined();
  expect(findGap("See [the docs](https://example.com) and explain them.")).toBeUndefined();
  expect(findGap("What does this do?\n\n```\nconst a = 1;\n```")).toBeUndefined();
});
