import { expect, it } from "vitest";
import { cutText, shortText, toPieces } from "./long-text.ts";

const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join("\n");

it("a long text is cut at the end of a line, a short one stays", () => {
  expect(cutText("short")).toBe("short");
  const cut = cutText(lines);
  expect(cut.length).toBeLessThanOrEqual(shortText);
  expect(lines.startsWith(`${cut}\n`)).toBe(true);
  expect(cutText("x".repeat(5_000_000))).toHaveLength(shortText);
});

it("pieces hold the whole text, also when it has no lines", () => {
  for (const text of [lines, "x".repeat(5_000_000), "", "one"]) {
    const pieces = toPieces(text);
    expect(pieces.join("")).toBe(text);
    expect(pieces.every((piece) => piece.length <= shortText + 1)).toBe(true);
  }
});
