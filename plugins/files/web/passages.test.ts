import { expect, it } from "vitest";
import { cutAt, placeAt, readPassage, toPieces } from "./passages.ts";

const text = "first page\n\nsecond page";
const places = [
  { start: 0, page: 1 },
  { start: 12, page: 2 },
];

it("a text is cut at its places", () => {
  expect(toPieces(text, places)).toEqual([
    { start: 0, end: 12, place: places[0] },
    { start: 12, end: 23, place: places[1] },
  ]);
  expect(toPieces("", [])).toEqual([]);
});

it("a long text without places is cut at ends of lines, and nothing is lost", () => {
  const long = `${"word ".repeat(20)}\n`.repeat(1000);
  const pieces = toPieces(long, []);
  expect(pieces.length).toBeGreaterThan(4);
  expect(pieces.map(({ start, end }) => long.slice(start, end)).join("")).toBe(long);
  expect(pieces.slice(0, -1).every(({ end }) => long[end - 1] === "\n")).toBe(true);
  const line = "x".repeat(50_000);
  expect(toPieces(line, []).map(({ end }) => end)).toEqual([20_000, 40_000, 50_000]);
});

it.each([
  ["?start=12&end=18", { start: 12, end: 18 }],
  ["?start=12", { start: 12, end: 13 }],
  ["?start=12&end=5", { start: 12, end: 13 }],
  ["?start=20&end=900", { start: 20, end: 23 }],
  ["?page=2", { start: 12, end: 12 }],
  ["?start=900", undefined],
  ["?start=-1&page=x", undefined],
  ["", undefined],
])("an address %s names a passage", (search, passage) => {
  expect(readPassage(search, text, places)).toEqual(passage);
});

it("a passage is marked in each piece it touches", () => {
  const passage = { start: 6, end: 18 };
  const pieces = toPieces(text, places);
  expect(pieces.map((piece) => cutAt(text, piece, passage))).toEqual([
    ["first ", "page\n\n", ""],
    ["", "second", " page"],
  ]);
  expect(placeAt(places, 15)).toBe(places[1]);
});
