import { expect, it } from "vitest";
import { CurrentReads } from "./current-reads.ts";

it("reads again what a change has overtaken, and not for ever", async () => {
  const reads = new CurrentReads();
  let asked = 0;
  const ask = (changes: number) => async () => {
    asked += 1;
    if (asked <= changes) {
      reads.changed();
    }
    return asked;
  };
  expect(await reads.read(ask(0))).toBe(1);
  asked = 0;
  expect(await reads.read(ask(1))).toBe(2);
  asked = 0;
  expect(await reads.read(ask(100))).toBe(3);
});
