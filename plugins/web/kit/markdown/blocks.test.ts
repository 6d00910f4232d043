import { describe, expect, test } from "vitest";
import { BlockReader } from "./blocks.ts";
import { toHtml } from "./syntax.ts";

const showWhole = (text: string) => shown(new BlockReader(), text);
const shown = (reader: BlockReader, text: string, isClosed = true) =>
  reader
    .read(text, isClosed)
    .map(({ tokens, source }) => (tokens.length > 0 ? toHtml(tokens) : source))
    .join("");

function showStreamed(text: string, step: number): string {
  const reader = new BlockReader();
  for (let end = step; end < text.length; end += step) {
    shown(reader, text.slice(0, end), false);
  }
  return shown(reader, text);
}

const texts = {
  prose: "One *two* **three**.\n\nFour `five`\nsix.\n\n> Seven\n\n---\n\nEight",
  lists: "- a\n- b\n  - c\n\n1. x\n2. y\n\n- [x] done\n- [ ] open\n",
  code: "Look:\n\n```js\nlet a = 1;\n\nlet b;\n```\n\nafter\n\n~~~\nopen",
  table: "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nafter",
  links: "[one][r] and [two](https://example.test)\n\n[r]: https://example.test/r\n\nend",
  notes: "Said[^1].\n\nMore.\n\n[^1]: There it is.\n\nend",
  details: "<details><summary>More</summary>\n\nInside **it**\n\n- a\n\n</details>\n\nafter\n\nend\n\nend",
  "long lists":
    Array.from({ length: 70 }, (_, at) => `${at + 3}. item *${at}*\n`).join("") + "\n- x\n- y\n\n7. z\n",
  "loose lists": Array.from(
    { length: 50 },
    (_, at) => `- item ${at}\n${at === 30 ? "\n  more\n\n" : ""}`,
  ).join(""),
  "long tables": `| a | b |\n|:-:|--|\n${"| 1 | **2** |\n".repeat(90)}\nafter`,
  "long code": `1. x\n\n  ~~~~py\n${"  x = 1\n\n".repeat(90)}  ~~~\n~~~~\nafter\n\n\`\`\`\nopen`,
  "long lines": `# T\n\n${"x".repeat(25_000)}\n\n**end**\n\n\`\`\`\n${"y".repeat(12_000)}\n\`\`\`\n`,
  maths: "Sum $a+b$ costs $5 and $6.\n\n$$\nx^2\n$$\n\nend",
};

describe("blocks", () => {
  test.each(Object.entries(texts))("show %s the same in pieces as whole", (_name, text) => {
    const whole = showWhole(text);
    for (const step of text.length > 20_000 ? [997] : [1, 3, 7]) {
      expect(showStreamed(text, step)).toBe(whole);
    }
  });

  const growing = {
    prose: ["", (at: number) => (at % 40 === 39 ? "word.\n\n" : "word ")],
    code: ["```js\n", (at: number) => (at % 10 === 9 ? "x = 1;\n" : "word ")],
    "a list": ["- ", (at: number) => (at % 10 === 9 ? "\n- " : "word ")],
    "a table": ["| a |\n|--|\n", (at: number) => (at % 10 === 9 ? " |\n" : at % 10 === 0 ? "| a " : "word ")],
    "one paragraph": ["", () => "word "],
  } as const;

  test.each(Object.entries(growing))(
    "read no more for an update at the end of 8,000 tokens of %s than at their start",
    (_name, [begin, piece]) => {
      const reader = new BlockReader();
      let text: string = begin;
      const work: number[] = [];
      for (let at = 0; at < 8_000; at += 1) {
        text += piece(at);
        reader.read(text, false);
        work.push(reader.lastWork);
      }
      const mean = (list: number[]) => list.reduce((a, b) => a + b, 0) / list.length;
      expect(mean(work.slice(-1_000))).toBeLessThanOrEqual(Math.max(mean(work.slice(500, 1_500)) * 1.1, 200));
      expect(mean(work)).toBeLessThan(2_500);
    },
  );

  test("look alike while they are written and when they are complete", () => {
    const shownOf = (text: string) => shown(new BlockReader(), text, false);
    expect(shownOf("Some **bold te")).toBe("<p>Some <strong>bold te</strong></p>\n");
    expect(shownOf("Some `code *")).toBe("<p>Some <code>code *</code></p>\n");
    expect(shownOf("Some *soft **both")).toBe("<p>Some <em>soft <strong>both</strong></em></p>\n");
    expect(shownOf("2 * 3 and a_b **")).toBe("<p>2 * 3 and a_b </p>\n");
    expect(shownOf("See [text](https://exa")).toBe("<p>See text</p>\n");
    expect(shownOf("See ![picture](https://exa")).toBe("<p>See </p>\n");
    expect(shownOf("A line\n-")).toBe("<p>A line</p>\n");
    expect(shownOf("| a | b |\n|-")).toContain("<th>b</th>");
    expect(shownOf("A <span ti")).toBe("<p>A </p>\n");
    expect(shownOf("A\n\n``")).toBe("<p>A</p>\n");
  });

  test("begin anew when the text is another one", () => {
    const reader = new BlockReader();
    reader.read("a\n\nb\n\nc\n\nd", false);
    expect(shown(reader, "x\n\ny")).toBe("<p>x</p>\n<p>y</p>\n");
  });

  test("show as it is what no parser should read: very long lines and very deep nesting", () => {
    for (const text of ["x".repeat(2_000_000), `${"> ".repeat(500)}deep`, `${"  ".repeat(500)}- deep`]) {
      const blocks = new BlockReader().read(text, true);
      expect(blocks.every(({ tokens }) => tokens.length === 0)).toBe(true);
      expect(blocks.map(({ source }) => source).join("")).toBe(text);
    }
  });

  test("take no longer than a moment for what is made to take long", () => {
    const hard = {
      brackets: `${"[".repeat(5_000)}\n`.repeat(40),
      "deep lists": Array.from({ length: 500 }, (_, at) => `${"  ".repeat(at)}- x`).join("\n"),
      rows: `| a | b |\n|--|--|\n${"| one | two |\n".repeat(10_000)}`,
      addresses: "[a]: b\n".repeat(5_000),
      emphasis: `${"*a **b ".repeat(1_000)}\n`.repeat(20),
      markup: `${"<b><div ".repeat(1_000)}\n`.repeat(20),
    };
    for (const [name, text] of Object.entries(hard)) {
      // Time on the processor: other work of the machine is not what is measured.
      const before = process.cpuUsage();
      showWhole(text);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000, name).toBeLessThan(3_000);
    }
  });

  test("take lone surrogates, floods of joiners and unclosed marks", () => {
    for (const text of [
      "\ud800 a",
      "a" + "\u200d".repeat(5_000),
      "**a [b](c `d",
      "<div <b",
      "![",
      "$$ x",
      "| a |\n|--",
    ]) {
      expect(typeof showStreamed(text, 1)).toBe("string");
    }
  });
});
