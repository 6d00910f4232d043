import { expect, it } from "vitest";
import { splitText } from "./split.ts";

const long = "This sentence is long enough to be spoken by itself, without its neighbours.";

it("texts are cut at sentences; short ones join those behind them", () => {
  expect(splitText(`Hi. You there? ${long} ${long}\n\nEnd.`, "punctuation", 4_000)).toEqual([
    `Hi. You there? ${long}`,
    long,
    "End.",
  ]);
  expect(splitText("Version 3.5 of e.g. this costs 1,000.50 euros.", "punctuation", 4_000)).toHaveLength(1);
});

it("sentences of languages without blanks are cut too", () => {
  const sentence =
    "これはとても長い文です、一人で話すことができます、だから隣の文はいりません、そう思います、本当に長い文ですからね、はい、そうです。";
  expect(splitText(`${sentence}${sentence}`, "punctuation", 4_000)).toEqual([sentence, sentence]);
});

it("texts are cut at paragraphs, or not at all", () => {
  const text = `${long} ${long}\n \n${long}\nA line of it.`;
  expect(splitText(text, "paragraphs", 4_000)).toEqual([`${long} ${long}`, `${long}\nA line of it.`]);
  expect(splitText(text, "none", 4_000)).toEqual([text]);
  expect(splitText(" \n\n ", "punctuation", 4_000)).toEqual([]);
});

it("no piece is longer than the engine takes, and none is cut within a character", () => {
  const text = "word ".repeat(400);
  for (const splitOn of ["punctuation", "paragraphs", "none"] as const) {
    const pieces = splitText(text, splitOn, 100);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(100);
    expect(pieces.join(" ")).toBe(text.trim());
  }
  const faces = splitText("😀".repeat(100), "none", 33);
  expect(faces.join("")).toBe("😀".repeat(100));
  expect(faces.every((piece) => piece.isWellFormed())).toBe(true);
});
