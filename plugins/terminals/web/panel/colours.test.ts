import { expect, it } from "vitest";
import { createColourFilter } from "./colours.ts";

const escape = (codes: string) => `\u001b[${codes}m`;

it.each([
  ["plain text", "plain text"],
  [`${escape("31")}red${escape("0")}`, `${escape("31")}red${escape("0")}`],
  [escape("38;5;7"), escape("38;5;7")],
  [escape("38;2;255;0;0"), escape("38;5;196")],
  [escape("1;38;2;1;2;3;48;2;250;255;255"), escape("1;38;5;16;48;5;231")],
  [escape("38:2::95:135:175"), escape("38:5:67")],
  [escape("48:2:95:135:999"), escape("48:5:69")],
  ["\u001b[2J\u001b[38;2;0;0;0H", "\u001b[2J\u001b[38;2;0;0;0H"],
])("%j is shown as %j", (given, shown) => {
  expect(createColourFilter()(given)).toBe(shown);
});

it("holds a sequence that comes in pieces", () => {
  const filter = createColourFilter();
  const pieces = ["a\u001b", "[38;2;25", "5;0;0mb", "c\u001b"];
  expect(pieces.map(filter)).toEqual(["a", "", `${escape("38;5;196")}b`, "c"]);
  expect(filter("[0m")).toBe(escape("0"));
});
