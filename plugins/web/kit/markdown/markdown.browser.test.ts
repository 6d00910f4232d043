import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import { corpus, foreignHost, ranMark } from "./corpus.fixture.ts";

describeInterface("texts of others in Markdown", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha"] }));
    ({ token } = await world.app.admin());
  });

  /** Stores a chat whose reply says this; resolves to its address. */
  async function makeChat(content: string): Promise<string> {
    const [question, reply] = [randomUUID(), randomUUID()];
    const messages = {
      [question]: { id: question, role: "user", content: "Show it", parentId: null, childrenIds: [reply] },
      [reply]: {
        id: reply,
        role: "assistant",
        content,
        parentId: question,
        childrenIds: [],
        done: true,
        model: "alpha",
      },
    };
    const chat = { title: "Shown", models: ["alpha"], history: { currentId: reply, messages } };
    const made = await world.app.call("POST /api/v1/chats/new", { token, body: { chat } });
    expect(made.status).toBe(200);
    return `/c/${made.body.id}`;
  }

  /** The marks in the frames of the page. A preview loads while text still comes, so that its frame may change meanwhile. */
  async function hasRun(page: Page): Promise<boolean[]> {
    const own = await page.evaluate((mark) => mark in globalThis, ranMark);
    for (;;) {
      const frames = page.frames().filter((frame) => frame !== page.mainFrame());
      const marks = frames.map((frame) => frame.evaluate((mark) => mark in globalThis, ranMark));
      const outcomes = await Promise.allSettled(marks);
      if (outcomes.every((outcome) => outcome.status === "fulfilled")) {
        return [own, ...outcomes.map(({ value }) => value)];
      }
    }
  }

  /** Whether anything of the page acts, dresses up or leads to a script. */
  const findActive = (page: Page) =>
    page.locator(".markdown").evaluateAll((roots) =>
      roots.flatMap((root) =>
        [...root.querySelectorAll("*")]
          .filter(
            (node) =>
              /^(script|iframe|object|embed|form|input|style|link|meta|base|video|audio|template)$/i.test(
                node.tagName,
              ) && !node.matches("iframe[sandbox='allow-scripts'], input[type=checkbox]:disabled"),
          )
          .map((node) => node.outerHTML.slice(0, 200))
          .concat(
            [...root.querySelectorAll("*")].flatMap((node) =>
              [...node.attributes]
                .filter(
                  ({ name, value }) =>
                    /^on/i.test(name) || /^\s*(javascript|vbscript|data:text)/i.test(value),
                )
                .map(({ name, value }) => `${name}=${value.slice(0, 100)}`),
            ),
          ),
      ),
    );

  // Several in one message, so that one page shows many; what swallows the rest of a text is a block of its own.
  const groups = Array.from({ length: Math.ceil(corpus.length / 20) }, (_, at) =>
    corpus.slice(at * 20, at * 20 + 20),
  );

  test("run nothing, call nobody and leave the page where it is, as they are stored", async () => {
    const shown = await openPage({ url: world.app.url, token });
    for (const group of groups) {
      const path = await makeChat(group.filter((text) => text.isWellFormed()).join("\n\n"));
      await shown.page.goto(world.app.url + path);
      await shown.page.locator(".markdown > *").first().waitFor({ state: "attached" });
      // Pictures have failed and frames are drawn: what would run has run.
      await shown.page.waitForFunction(() => [...document.images].every((image) => image.complete));
      await shown.page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      );
      expect(await findActive(shown.page)).toEqual([]);
      expect(await hasRun(shown.page)).not.toContain(true);
      expect(new URL(shown.page.url()).pathname).toBe(path);
    }
  });

  test("run nothing while they are written piece by piece", async () => {
    const text = corpus.filter((one) => one.isWellFormed()).join("\n\n");
    const pieces = text.match(/[^]{1,9}/g) ?? [];
    world.upstream.always("/chat/completions", sse(textChunks(pieces)));
    const shown = await openPage({ url: world.app.url, token });
    const field = shown.page.getByRole("textbox", { name: "Message" });
    await write(field, "Show it");
    await field.press("Enter");
    await shown.page.getByText("covers the page").waitFor({ timeout: 60_000 });
    expect(await hasRun(shown.page)).not.toContain(true);
    expect(new URL(shown.page.url()).origin).toBe(new URL(world.app.url).origin);
    expect(await findActive(shown.page)).toEqual([]);
  });

  test("show code, maths, tables, diagrams, notes and pictures of other hosts", async () => {
    const far = "Words that make it long. ".repeat(30);
    const text = [
      "<details><summary>More</summary>\n\nInside **it**\n\n</details>",
      "# Title\n\nSome **bold** and `code` with $a^2$[^1].",
      "```js\nconst a = 1;\n```",
      "| a | b |\n|---|--:|\n| 1 | 2 |",
      "```mermaid\ngraph TD; A-->B\n```",
      `![far](https://${foreignHost}/p.png)`,
      "[^1]: The note.",
      "- [x] done",
      Array.from({ length: 30 }, (_, at) => `${at + 1}. item`).join("\n"),
      ...Array.from({ length: 300 }, () => far),
      "The very end.",
    ].join("\n\n");
    const shown = await openPage({ url: world.app.url, token, path: await makeChat(text) });
    const { page } = shown;
    await page.locator(".code-keyword", { hasText: "const" }).waitFor();
    await page.locator(".katex-html .msupsub").waitFor();
    await page.getByRole("button", { name: "Copy code" }).first().waitFor();
    await page.getByRole("link", { name: `Picture from ${foreignHost}: far` }).waitFor();
    await page.getByRole("checkbox", { name: "Done", checked: true }).waitFor();
    await page.locator(".markdown").getByText("The very end.").waitFor();
    expect(await page.getByText("Inside it").isVisible()).toBe(false);
    await page.getByText("More", { exact: true }).click();
    expect(await page.getByText("Inside it").isVisible()).toBe(true);
    const starts = await page
      .locator(".markdown ol")
      .evaluateAll((all) => all.map((one) => (one as HTMLOListElement).start));
    expect(starts).toEqual([1, 11, 21]);
    await page.frameLocator("iframe[title=Diagram]").locator("svg").first().waitFor();
    expect(await page.getByRole("cell", { name: "2", exact: true }).getAttribute("align")).toBe("right");
    await page.locator(".markdown [data-note='1']").click();
    await expect.poll(() => page.getByText("The note.").isVisible()).toBe(true);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as CSV" }).click();
    expect((await download).suggestedFilename()).toBe("table.csv");
  });
});
