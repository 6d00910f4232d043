import type { FrameLocator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import { cases } from "./cases.fixture.ts";

describeInterface("a reply that is streamed", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha"] }));
    ({ token } = await world.app.admin());
  });

  const reply = [
    ...Object.values(cases),
    "1. first\n   ```js\n   const a = 1;\n   ```\n2. second with $y$\n\n- [x] done\n  ```sh\n  echo $$\n  ```",
    "| Formula | Code |\n|:-:|--:|\n| $\\sqrt{2}$ | `a->b` |",
    "```mermaid\ngraph LR\nRiver-->Wheel\n```",
    "```mermaid\ngraph LR\nA[River --> B\n```",
    "> quoted **words**[^1]\n\n[^1]: The note.",
    "The very end.",
  ].join("\n\n");

  const cuts: Readonly<Record<string, readonly string[]>> = {
    character: [...reply],
    token: reply.match(/[^]{1,4}/g) ?? [],
    line: reply.split(/(?<=\n)/),
    "one piece": [reply],
  };

  /** Stores a chat with this reply; resolves to its path. */
  async function store(): Promise<string> {
    const q = { id: "q", role: "user", content: "Show it", parentId: null, childrenIds: ["a"] };
    const a = {
      id: "a",
      role: "assistant",
      content: reply,
      parentId: "q",
      childrenIds: [],
      done: true,
      model: "alpha",
    };
    const chat = { title: "Shown", models: ["alpha"], history: { currentId: "a", messages: { q, a } } };
    const made = await world.app.call("POST /api/v1/chats/new", { token, body: { chat } });
    return `/c/${made.body.id}`;
  }

  /** The broken diagram says so last of all that a page does for the reply. */
  async function settled(page: Page): Promise<void> {
    await page.getByText("This diagram can't be drawn: its line 2 has an error.").waitFor();
    await page.locator(".code-keyword", { hasText: "const" }).waitFor();
    await page.frameLocator("iframe[title=Diagram]").locator("svg").first().waitFor();
  }

  /** The reply as the page has it, by its tags; the empty comments are places that Svelte keeps, and hold nothing. */
  const shownIn = async (page: Page) => {
    const html = await page
      .locator(".markdown")
      .last()
      .evaluate((root) => root.outerHTML);
    return html.replaceAll("<!---->", "").split(/(?=<)/);
  };

  /** Opens the same chat beside the page; both show the same once all has come, such as the height of a drawing's frame. */
  async function expectSameBeside(page: Page, timeout = 60_000): Promise<void> {
    const beside = await page.context().newPage();
    await beside.goto(page.url());
    const differing = async () => {
      const [one, other] = await Promise.all([shownIn(page), shownIn(beside)]);
      return one
        .map((tag, at) => [tag, other[at]])
        .concat(one.length === other.length ? [] : [[`${one.length} tags`, `${other.length} tags`]])
        .filter(([mine, theirs]) => mine !== theirs)
        .slice(0, 5);
    };
    await expect.poll(differing, { interval: 500, timeout }).toEqual([]);
  }

  test.each(Object.keys(cuts))("by %s is the same page as after a reload", async (name) => {
    world.upstream.always("/chat/completions", sse(textChunks(cuts[name] ?? [])));
    const shown = await openPage({ url: world.app.url, token });
    const { page } = shown;
    await page.getByRole("textbox", { name: "Message" }).click();
    await page.keyboard.type(`Show it by ${name}`);
    await page.keyboard.press("Enter");
    await page.getByText("The very end.").waitFor();
    await page.getByRole("button", { name: "Good reply" }).last().waitFor();
    await settled(page);
    await expectSameBeside(page);
  });

  test("of 10,000 lines of code is laid out in small parts, and is the same page after a reload", async () => {
    const lines = Array.from(
      { length: 10_000 },
      (_one, at) => `const line${at} = compute(${at}, "value"); // ${at}\n`,
    );
    const pieces = Array.from({ length: 100 }, (_one, at) => lines.slice(at * 100, at * 100 + 100).join(""));
    const long = ["```ts\n", ...pieces, "```\n\nThe end of it."];
    world.upstream.always("/chat/completions", sse(textChunks(long)));
    const { page } = await openPage({ url: world.app.url, token });
    /** The longest text that the browser has to lay out again when a line is added. */
    const longest = () =>
      page.evaluate(() => {
        const walker = document.createTreeWalker(
          document.querySelector(".markdown pre")!,
          NodeFilter.SHOW_TEXT,
        );
        let most = 0;
        while (walker.nextNode()) {
          most = Math.max(most, walker.currentNode.textContent?.length ?? 0);
        }
        return most;
      });
    await page.getByRole("textbox", { name: "Message" }).click();
    await page.keyboard.type("Write 10,000 lines");
    await page.keyboard.press("Enter");
    await page.locator(".markdown pre").waitFor();
    expect(await longest()).toBeLessThan(10_000);
    await page.getByText("The end of it.").waitFor();
    await page.getByRole("button", { name: "Good reply" }).last().waitFor();
    expect(await longest()).toBeLessThan(10_000);
    const code = page.locator(".markdown pre code");
    expect(await code.evaluate((one) => one.textContent)).toBe(lines.join("").trimEnd());
    expect(await code.locator("> *").count()).toBe(100);
    // The colours of the lines that get some come last: those of the parts that begin in the first 250,000 characters.
    const begins = pieces.map((_piece, at) => pieces.slice(0, at).join("").length);
    const keywordsOf = (at: number) => code.locator("> *").nth(at).locator(".code-keyword").count();
    const last = begins.findLastIndex((begin) => begin < 250_000);
    const whole = await keywordsOf(0);
    expect(whole).toBeGreaterThanOrEqual(100);
    await expect.poll(() => keywordsOf(last), { timeout: 60_000 }).toBe(whole);
    await expectSameBeside(page);
  });

  test("has formulas with their signs, tables from right to left, boxes and code without ligatures", async () => {
    const shown = await openPage({ url: world.app.url, token, path: await store() });
    const { page } = shown;
    await page.locator(".katex-display").first().waitFor();
    expect(await page.locator("code.tex").count()).toBe(0);
    const root = await page.locator(".katex-html .sqrt svg").first().boundingBox();
    expect(Math.min(root?.width ?? 0, root?.height ?? 0)).toBeGreaterThan(8);
    // Brackets around two rows are of a font for large ones.
    const bracket = page.locator(".katex-html .mopen .delimsizing").first();
    expect(await bracket.evaluate((one) => getComputedStyle(one).fontFamily)).toContain("KaTeX_Size");
    const loaded = () =>
      page.evaluate(() =>
        [...document.fonts]
          .filter((one) => one.status === "loaded")
          .map((one) => one.family)
          .join(),
      );
    await expect.poll(loaded).toContain("KaTeX_Size");

    const cells = page.getByRole("row", { name: "أ 1" }).getByRole("cell");
    const [first, second] = [await cells.nth(0).boundingBox(), await cells.nth(1).boundingBox()];
    expect(first?.x ?? 0).toBeGreaterThan(second?.x ?? 0);
    const boxes = page.locator(".markdown").getByRole("checkbox");
    expect(await boxes.evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked))).toEqual([
      false,
      true,
      true,
    ]);
    const task = page.locator(".markdown li", { has: page.getByRole("checkbox") }).first();
    expect(await task.evaluate((one) => getComputedStyle(one).listStyleType)).toBe("none");
    const code = page.locator(".markdown code", { hasText: "a->b" });
    expect(await code.evaluate((one) => getComputedStyle(one).fontVariantLigatures)).toBe("none");
  });

  test.each(["desk", "phone"] as const)("has tables and diagrams that are enlarged on a %s", async (size) => {
    const shown = await openPage({ url: world.app.url, token, size, path: await store() });
    const { page } = shown;
    await settled(page);
    const widthOf = async (place: FrameLocator) =>
      (await place.locator("svg").first().boundingBox())?.width ?? 0;
    const small = await widthOf(page.frameLocator("iframe[title=Diagram]"));
    await page.locator(".markdown").getByRole("button", { name: "Enlarge" }).last().click();
    const dialog = page.getByRole("dialog", { name: "Diagram" });
    const large = dialog.frameLocator("iframe");
    // A phone has no more room than the page itself, until one zooms in.
    await expect.poll(() => widthOf(large)).toBeGreaterThan(size === "desk" ? small : small * 0.9);
    const fitted = await widthOf(large);
    await dialog.getByRole("button", { name: "Zoom in" }).click();
    await expect.poll(() => widthOf(large)).toBeGreaterThan(fitted * 1.3);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });

    const table = page.locator(".markdown").getByRole("region", { name: "Table" }).last();
    await table.hover();
    await page.locator(".markdown").getByRole("button", { name: "Enlarge" }).nth(1).click();
    const whole = page.getByRole("dialog", { name: "Table" });
    await whole.getByRole("cell", { name: "a->b" }).waitFor();
    await whole.locator(".katex").first().waitFor();
    await whole.getByRole("button", { name: "Close" }).click();
    await whole.waitFor({ state: "hidden" });
  });
});
