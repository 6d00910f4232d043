import { expect, it } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

function pass(pieces: readonly string[]): string[] {
  const lines = new LineSplitter();
  return pieces.map((piece) => lines.take(Buffer.from(piece)).toString());
}

it.each([
  [
    ["a\n\n", "b\n\n"],
    ["a\n\n", "b\n\n"],
  ],
  [
    ["a\nb", "c\nd", "\n"],
    ["a\n", "bc\n", "d\n"],
  ],
  [
    ["a", "b", "c"],
    ["", "", ""],
  ],
  [["\n"], ["\n"]],
  [[""], [""]],
  [
    ["é\n", "x"],
    ["é\n", ""],
  ],
])("of %j it passes %j on", (pieces, passed) => {
  expect(pass(pieces)).toEqual(passed);
});

it("loses nothing, however the bytes are cut", () => {
  const text = Buffer.from('event: a\ndata: {"é":1}\n\ndata: half');
  for (let size = 1; size <= text.length; size++) {
    const lines = new LineSplitter();
    const passed: Buffer[] = [];
    for (let from = 0; from < text.length; from += size) {
      passed.push(lines.take(text.subarray(from, from + size)));
    }
    expect(Buffer.concat(passed).toString()).toBe('event: a\ndata: {"é":1}\n\n');
    expect(lines.rest().toString()).toBe("data: half");
    expect(lines.rest()).toHaveLength(0);
  }
});

it("lets a line go that is too long to be held", () => {
  const lines = new LineSplitter();
  const piece = Buffer.alloc(300 * 1024, "x");
  const passed = Array.from({ length: 8 }, () => lines.take(piece).length / piece.length);
  expect(passed).toEqual([0, 0, 0, 4, 0, 0, 0, 4]);
});

it("puts a long line together that comes byte by byte", () => {
  const lines = new LineSplitter();
  const length = 1024 * 1024;
  for (let n = 0; n < length; n++) {
    lines.take(Buffer.of(120));
  }
  expect(lines.take(Buffer.from("\n"))).toHaveLength(length + 1);
});
