import { describe, expect, it } from "vitest";
import { toSearchText } from "./language.ts";
import { split, type SplitOptions } from "./split.ts";

const options: SplitOptions = { unit: "character", size: 200, overlap: 40, minSize: 0, hasHeadings: false };
const sentences = Array.from({ length: 40 }, (_, at) => `Sentence ${at} tells of the mill.`).join(" ");

describe("split", () => {
  it("gives exact ranges that cover the text within the size, each beginning with a sentence", async () => {
    const pieces = await split(sentences, [], options);
    for (const { content, start, end } of pieces) {
      expect(sentences.slice(start, end)).toBe(content);
      expect(content.length).toBeLessThanOrEqual(200);
      expect(content).toMatch(/^Sentence \d+ /);
    }
    pieces.slice(1).forEach(({ start }, at) => expect(start).toBeLessThan(pieces[at]?.end ?? 0));
    expect(pieces.at(-1)?.end).toBe(sentences.length);
  });

  it("counts tokens where it should", async () => {
    const pieces = await split(sentences, [], { ...options, unit: "token", size: 50, overlap: 10 });
    expect(pieces.length).toBeGreaterThan(5);
    for (const { content, start, end } of pieces) {
      expect(sentences.slice(start, end)).toBe(content);
    }
  });

  it("does not reach over a page, and knows it", async () => {
    const text = "First page.\nSecond page.\nThird.";
    const places = [
      { start: 0, page: 1 },
      { start: 12, page: 2 },
      { start: 25, page: 3 },
    ];
    const pieces = await split(text, places, options);
    expect(pieces.map(({ content, place }) => [content, place?.page])).toEqual([
      ["First page.", 1],
      ["Second page.", 2],
      ["Third.", 3],
    ]);
  });

  it("keeps the headings above a passage, but not comments in code", async () => {
    const text = "# Mill\n\nIntro.\n\n## Wheel\n\n```sh\n# no heading\n```\n\n# River\n\nWater.";
    const pieces = await split(text, [], { ...options, hasHeadings: true });
    expect(pieces.map(({ headings }) => headings)).toEqual([["Mill"], ["Mill", "Wheel"], ["River"]]);
  });

  it("joins small sections of Markdown when it should", async () => {
    const text = "# A\n\nOne.\n\n# B\n\nTwo.\n\n# C\n\nThree.";
    const pieces = await split(text, [], { ...options, hasHeadings: true, minSize: 15 });
    expect(pieces.map(({ content }) => content)).toEqual(["# A\n\nOne.\n\n# B\n\nTwo.", "# C\n\nThree."]);
  });

  it("cuts a text without any border, and no sign in half", async () => {
    const text = "🚀".repeat(300) + "x";
    const pieces = await split(text, [], { ...options, size: 101, overlap: 0 });
    expect(pieces.every(({ content }) => content.isWellFormed())).toBe(true);
  });

  it("gives nothing for a text without letters", async () => {
    expect(await split(" \n--- *** \n", [], options)).toEqual([]);
  });
});

describe("toSearchText", () => {
  it("makes pairs of scripts without spaces, and one form of every letter", () => {
    expect(toSearchText("Ｍill 川のそば ÜBER").split(/\s+/)).toEqual([
      "mill",
      "川の",
      "のそ",
      "そば",
      "über",
    ]);
  });
});
