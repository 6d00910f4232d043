import { Lexer } from "marked";
import { describe, expect, test } from "vitest";
import { BlockReader } from "./blocks.ts";
import { cases } from "./cases.fixture.ts";
import { options, toHtml } from "./syntax.ts";

const show = (text: string): string =>
  new BlockReader()
    .read(text, true)
    .map(({ tokens }) => toHtml(tokens))
    .join("");
const line = (text: string): string => show(text).replace(/^<p>|<\/p>\n$/g, "");
/** The formulas of a text; those of the high form begin with an exclamation mark. */
const formulas = (text: string): string[] =>
  [...show(text).matchAll(/data-tex="([^"]*)"( data-display)?/g)].map(
    ([, tex, display]) => (display ? "!" : "") + tex,
  );

describe("the syntax of replies", () => {
  test("has emphasis end beside Han, kana and Hangul", () => {
    expect(show(cases["emphasis beside Han, kana and Hangul"] ?? "").match(/<strong>.*?<\/strong>/g)).toEqual(
      ["<strong>重点：</strong>", "<strong>注意（重要）</strong>", "<strong>하세요(테스트)</strong>"],
    );
    expect(line("他说**“你好”**。")).toBe("他说<strong>“你好”</strong>。");
    expect(line("これは*「強調」*です")).toBe("これは<em>「強調」</em>です");
    expect(line("a **b** *c* 2 * 3 * 4 snake_case_name **not ** so**")).toBe(
      "a <strong>b</strong> <em>c</em> 2 * 3 * 4 snake_case_name <strong>not ** so</strong>",
    );
    expect(line('**"quoted"**and **(a)**b')).toBe("**&quot;quoted&quot;**and **(a)**b");
  });

  test("ends a bare address at full-width punctuation", () => {
    const link = (url: string) => `<a href="${encodeURI(url)}">${url}</a>`;
    expect(line("请看https://example.com/路径，然后")).toBe(`请看${link("https://example.com/路径")}，然后`);
    expect(line("（https://example.com/a）。")).toBe(`（${link("https://example.com/a")}）。`);
    expect(line("「https://example.com」と“https://example.org”")).toBe(
      `「${link("https://example.com")}」と“${link("https://example.org")}”`,
    );
    expect(line("see https://example.com/a_(b), ok")).toBe(`see ${link("https://example.com/a_(b)")}, ok`);
  });

  test("leaves single tildes alone", () => {
    expect(show(cases["single and double tildes"] ?? "").match(/<del>.*?<\/del>/g)).toEqual([
      "<del>gone</del>",
    ]);
    expect(line("~5 to ~6 and ~a~")).toBe("~5 to ~6 and ~a~");
  });

  test("tells mathematics from money, paths and variables", () => {
    expect(formulas(cases["sums of money beside formulas"] ?? "")).toEqual(["E=mc^2", "\\$0.60"]);
    for (const text of [
      "It costs $$5 or $$6.",
      "$5 and US$ 6, CA$7 and R$ 8$",
      "$100 more than US$, said he",
      "from $5M–$10M",
      "$HOME/$PATH and $HOME:$PATH",
      "A \\[note\\] and \\[link\\](https://example.com)",
      "`$a$` and \\$b\\$",
      "5$ and 6$",
      "$ x $",
    ]) {
      expect(formulas(text), text).toEqual([]);
    }
    expect(formulas("$x$, $2 \\times 3$, $n$th, 设$f(x)$是 and ($y$)")).toEqual([
      "x",
      "2 \\times 3",
      "n",
      "f(x)",
      "y",
    ]);
    expect(formulas("**$a*b$** and *$c*d$*")).toEqual(["a*b", "c*d"]);
  });

  test("has formulas of the high form in a line, at its end and in lines of their own", () => {
    expect(formulas("So $$x^2$$ it is, \\[a+b\\] and \\(c\\).")).toEqual(["!x^2", "!a+b", "c"]);
    expect(formulas("we get $$\nx = 1\n$$ then\n$$y$$\n\n  \\[\n  z\n  \\]\n\n- in a list\n  $$w$$")).toEqual(
      ["!x = 1", "!y", "!z", "!w"],
    );
    expect(show("text\n$$x$$\nmore")).toMatch(/^<p>text<\/p>\n<p class="maths">.*<\/p><p>more<\/p>\n$/);
  });

  test("shows the source of a formula that is still being written", () => {
    const shown = (text: string) =>
      new BlockReader()
        .read(text, false)
        .map(({ tokens }) => toHtml(tokens))
        .join("");
    expect(shown("Then\n\n$$\na_1 * b_2 * c")).toBe(
      '<p>Then</p>\n<p class="maths"><code class="tex">$$\na_1 * b_2 * c</code></p>',
    );
    expect(shown("Then\n\n$$\n")).toBe("<p>Then</p>\n");
    expect(shown("\\[ x \\")).toBe('<p class="maths"><code class="tex">\\[ x</code></p>');
    expect(shown("Costs\n$$5 *each*")).toBe("<p>Costs\n$$5 <em>each</em></p>\n");
  });

  test("has a box in place of the bullet of a task", () => {
    expect(show("- [ ] a\n- [x] b\n- c")).toBe(
      '<ul>\n<li class="task"><input type="checkbox" disabled> a</li>\n' +
        '<li class="task"><input type="checkbox" disabled checked> b</li>\n<li>c</li>\n</ul>\n',
    );
  });

  test("has tokens whose sources make up the text again", () => {
    for (const text of [
      ...Object.values(cases),
      "So $$x$$ it is\n\n```\na\n```",
      "a\n\\[b\\]\nc [^1]: d\n[^1]: e",
    ]) {
      const sources = new Lexer(options).lex(text).map(({ raw }) => raw);
      expect(sources.join("")).toBe(text);
    }
  });
});
