import { expect, test } from "vitest";
import { joinChanges } from "./join-changes.ts";

const seen = { name: "Mill", text: null, tags: [] as readonly string[] };

test("what nobody else changed is stored as it was typed", () => {
  const typed = { ...seen, name: "Weir" };
  expect(joinChanges({ seen, stored: seen, typed })).toMatchObject({ joined: typed, clashes: [] });
});

test("what only the other one changed is taken along, and the same change by both is none", () => {
  const stored = { name: "Mill", text: "Theirs", tags: ["a"] };
  const typed = { ...seen, name: "Weir" };
  expect(joinChanges({ seen, stored, typed })).toMatchObject({
    joined: { name: "Weir", text: "Theirs", tags: ["a"] },
    clashes: [],
  });
  expect(joinChanges({ seen, stored, typed: { ...seen, text: "Theirs" } }).clashes).toEqual([]);
});

test("what both changed clashes once, and what was not told stays the other one's", () => {
  const stored = { name: "Sluice", text: "Theirs", tags: [] };
  const typed = { ...seen, name: "Weir" };
  const first = joinChanges({ seen, stored, typed });
  expect(first.clashes).toEqual(["name"]);
  expect(joinChanges({ seen: first.seen, stored, typed })).toMatchObject({
    joined: { name: "Weir", text: "Theirs", tags: [] },
    clashes: [],
  });
  // A third change is another one to tell.
  const third = { ...stored, name: "Lock" };
  expect(joinChanges({ seen: first.seen, stored: third, typed }).clashes).toEqual(["name"]);
});

test("missing, null and empty are the same", () => {
  expect(joinChanges({ seen: {}, stored: { text: null }, typed: { text: "" } }).clashes).toEqual([]);
  expect(joinChanges({ seen: {}, stored: { text: "Theirs" }, typed: { text: "" } }).joined).toEqual({
    text: "Theirs",
  });
});
