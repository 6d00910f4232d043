import { expect, test } from "vitest";
import { SentenceReader, toSpoken } from "./sentences.ts";

test("cuts a growing reply at its sentences, each told once", () => {
  const reader = new SentenceReader("punctuation", "en");
  const text = "The wheel turns slowly. It grinds 3.5 sacks a day! Does it rest? Never";
  const told: string[] = [];
  for (let end = 1; end <= text.length; end += 1) {
    told.push(...reader.read(text.slice(0, end), false));
  }
  expect(told).toEqual(["The wheel turns slowly.", "It grinds 3.5 sacks a day!", "Does it rest?"]);
  expect(reader.read(text, true)).toEqual(["Never"]);
  expect(reader.read(text, true)).toEqual([]);
});

test("says no code, marks and addresses, and joins what is too short", () => {
  const reader = new SentenceReader("punctuation", "en");
  const text = [
    "## Parts of a mill",
    "",
    "1. The **wheel**, see [the plan](https://mill.example/a.b).",
    "2. The `stone` [1].",
    "```js",
    "grind('all. of it.');",
    "```",
    "| a | b |",
    "|---|---|",
    "Done now, at https://mill.example/x.",
  ].join("\n");
  const told: string[] = [];
  for (let end = 0; end <= text.length; end += 7) {
    told.push(...reader.read(text.slice(0, end), false));
  }
  told.push(...reader.read(text, true));
  const all = told.join(" ");
  expect(all).toContain("Parts of a mill");
  expect(all).toContain("The wheel, see the plan");
  expect(all).toContain("The stone");
  expect(all).toContain("Done now, at");
  expect(all).not.toMatch(/grind|https|[*`#|]|\[1\]|---/);
  expect(told.every((piece) => piece.length >= 5)).toBe(true);
});

test("cuts at paragraphs, or not at all", () => {
  const text = "One. Two and more.\n\nThree of them.";
  const paragraphs = new SentenceReader("paragraphs");
  expect(paragraphs.read(text, false)).toEqual(["One. Two and more."]);
  expect(paragraphs.read(text, true)).toEqual(["Three of them."]);
  const whole = new SentenceReader("none");
  expect(whole.read(text, false)).toEqual([]);
  expect(whole.read(text, true)).toEqual(["One. Two and more. Three of them."]);
});

test("says nothing where there are only signs", () => {
  expect(toSpoken("|---|---|")).toBe("");
  expect(toSpoken("***")).toBe("");
  expect(toSpoken("![a picture](https://mill.example/p.png)")).toBe("");
});
