import { describe, expect, test } from "vitest";
import type { Block } from "./block.ts";
import { BlockReader } from "./blocks.ts";
import { cases } from "./cases.fixture.ts";
import { toHtml } from "./syntax.ts";

/** The blocks as the page shows them, each by its kind, its state and its markup. */
const shown = (blocks: readonly Block[]): string[] =>
  blocks
    .filter(({ tokens }) => tokens[0]?.type !== "space" && tokens[0]?.type !== "def")
    .map(({ tokens, source, isClosed, continues = false }) =>
      JSON.stringify([isClosed, continues, tokens[0]?.type, tokens.length > 0 ? toHtml(tokens) : source]),
    );

/** Numbers that look random and are the same in each run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

type Cut = (text: string, random: (below: number) => number) => string[];
const cuts: Readonly<Record<string, Cut>> = {
  character: (text) => [...text],
  token: (text, random) => {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 1) {
      pieces.push(text.slice(at, at + 1 + random(9)));
    }
    return pieces;
  },
  line: (text) => text.split(/(?<=\n)/),
};

/** Reads a text in these pieces; throws when a block that was finished changes or goes. */
function readInPieces(pieces: readonly string[]): readonly Block[] {
  const reader = new BlockReader();
  const finished = new Map<number, string>();
  let text = "";
  for (const piece of pieces) {
    text += piece;
    const blocks = new Map(reader.read(text, false).map((block) => [block.at, block]));
    for (const [at, before] of finished) {
      const now = blocks.get(at);
      expect(now && toHtml(now.tokens), `the block at ${at} of ${JSON.stringify(text)}`).toBe(before);
    }
    blocks.forEach(({ isClosed, tokens }, at) => isClosed && finished.set(at, toHtml(tokens)));
  }
  return reader.read(text, true);
}

const fragments = [
  ...Object.values(cases).flatMap((text) => text.trimEnd().split("\n\n")),
  "- a\n- b\n  - c\n\n    more",
  "1. x\n2. y\n   ```js\n   z\n   ```\n3. z",
  "- a\n\n- b",
  "> - a\n> - b\nlazy",
  "# Title",
  "Title\n===",
  "---",
  "**bold\ntext** ***x*** _y_ `code` ``a`b``",
  "    indented\n    code",
  "<details><summary>x</summary>\n\ninside\n\n</details>",
  "<div>\nx",
  "</div>",
  "[^1]: note\ncontinues",
  "See [the guide][g], [g] and [G][], not [h].",
  "- one [g]\n- two\n- [x][g]",
  '[g]: https://x.test/g\n[h]: <https://x.test/h> "t"',
  "[g]: https://x.test/other",
  "Said[^1] it [1].",
  "text\n$$\nx\n$$\nafter",
  "we get $$\nx=1\n$$ yes",
  "\\[ open",
  "$$ open",
  "$a_1*b$ and $c*d$",
  "```",
  "~~~\nopen",
  "<!-- open",
  "text\n- list",
  "a  \nb\\\nc",
  "![p](https://x.test/y.png) <span>a</span> &amp;",
  Array.from({ length: 26 }, (_, at) => `${at + 1}. item ${at}${at % 9 === 5 ? "\n\n   more\n" : ""}`).join(
    "\n",
  ),
  `| a | b |\n|--|--|\n${Array.from({ length: 60 }, (_, at) => `| ${at} | $x$ |`).join("\n")}`,
];
const marks = "* ** _ ` ``` ~~ [ ]( ] ) < <b> | \n \n\n - > 1. # $ $$ \\[ \\] \\ a 5 ： 重 ! --- ===".split(
  " ",
);

function write(random: (below: number) => number): string {
  const pick = (list: readonly string[]) => list[random(list.length)] ?? "";
  const soup = Array.from({ length: 30 }, () => pick(marks)).join(pick(["", " "]));
  return Array.from(
    { length: 1 + random(5) },
    () => pick([...fragments, soup]) + pick(["\n", "\n\n", "\n\n", " "]),
  ).join("");
}

describe("a reply that is streamed", () => {
  describe.each(Object.keys(cuts))("by %s", (name) => {
    const inPieces = (text: string, seed = 1) => cuts[name]?.(text, createRandom(seed)) ?? [];

    test.each(Object.entries(cases))("shows %s as it is shown whole, at every end", (_name, text) => {
      for (let end = 1; end <= text.length; end += name === "character" ? 1 : 3) {
        const written = text.slice(0, end);
        expect(shown(readInPieces(inPieces(written, end)))).toEqual(
          shown(new BlockReader().read(written, true)),
        );
      }
    });

    test("changes a finished block for an address behind it at the end alone, and no other block", () => {
      const text =
        "See [the guide][g].\n\nPlain.\n\n```js\n[g]\n```\n\nMore.\n\nEnd.\n\n[g]: https://x.test/g\n";
      const reader = new BlockReader();
      let written = "";
      let before: readonly Block[] = [];
      for (const piece of inPieces(text)) {
        written += piece;
        before = reader.read(written, false);
      }
      const after = reader.read(written, true);
      expect(shown(before)[0]).not.toContain("href");
      expect(shown(after)[0]).toContain("https://x.test/g");
      expect(after.slice(1, 4).map(({ tokens }) => tokens)).toEqual(
        before.slice(1, 4).map(({ tokens }) => tokens),
      );
    });

    test("shows 150 mixtures as they are shown whole, and leaves what is finished alone", () => {
      for (let seed = 1; seed <= 150; seed += 1) {
        const random = createRandom(seed * 7919);
        const text = write(random);
        for (const written of [text, text.slice(0, random(text.length))]) {
          expect(shown(readInPieces(inPieces(written, seed))), JSON.stringify(written)).toEqual(
            shown(new BlockReader().read(written, true)),
          );
        }
      }
    });
  });
});
