import { expect, it } from "vitest";
import { toPlainText } from "./plain-text.ts";

it.each([
  ["# Weir\n\nUntil **Friday** or ~~never~~, *perhaps* _so_.", "Weir\nUntil Friday or never, perhaps so."],
  ["* [x] measure\n* [ ] ask\n- grease", "☑ measure\n☐ ask\n• grease"],
  ["> Close the [sluice](https://mill.example/a_b) ![now](x.png)", "Close the sluice now"],
  ["```ts\nheight = upper - lower\n```\n`a*b`", "height = upper - lower\na*b"],
  ["| a | b |\n|---|---|\n| 1 | 2 |", "a | b \n 1 | 2"],
  ["before\n\n---\n\nafter", "before\nafter"],
  ["snake_case_name and 2 * 3 * 4, 5 \\* 6", "snake_case_name and 2 * 3 * 4, 5 * 6"],
  [
    "\\*\\*bold\\*\\* and \\*lean\\* and \\`code\\`, **\\*both\\***",
    "**bold** and *lean* and `code`, *both*",
  ],
  ["A price of 3 < 4 & [unfinished", "A price of 3 < 4 & [unfinished"],
])("%j loses its marks", (markdown, plain) => {
  expect(toPlainText(markdown)).toBe(plain);
});

it("takes a long line of marks without long work", () => {
  const started = process.cpuUsage();
  for (const mark of ["*", "_", "[", "`", "|", "> ", "- ", "\\", "**a", "[a](", "#"]) {
    toPlainText(mark.repeat(2_000));
  }
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(500);
});
