import { expect, it } from "vitest";
import { goesOn } from "./version-store.ts";

const second = 1_000_000_000n;
const long = "We begin on Monday with the wheel, and on Tuesday the stones are dressed by both of us.";
const last = {
  user_id: "ann",
  content: long,
  created_at: String(100n * second),
  updated_at: String(200n * second),
};
const edit = { userId: "ann", content: `${long} Bring tools.`, now: 210n * second };

it.each([
  ["of the same author goes on", edit, true],
  ["of the same author after ten minutes begins another", { ...edit, now: 701n * second }, false],
  ["of another who writes at the same time goes on", { ...edit, userId: "ben" }, true],
  ["of another who comes later begins another", { ...edit, userId: "ben", now: 240n * second }, false],
  ["that takes most of the text away begins another", { ...edit, content: "gone" }, false],
  ["that takes less than half away goes on", { ...edit, content: long.slice(0, 60) }, true],
])("an edit %s", (_what, given, expected) => {
  expect(goesOn(last as never, given)).toBe(expected);
});

it("a short text may go at once", () => {
  expect(goesOn({ ...last, content: "Wheel" } as never, { ...edit, content: "" })).toBe(true);
});
