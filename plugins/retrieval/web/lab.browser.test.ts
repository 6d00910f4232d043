import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage, type OpenPage } from "#test/support/interface.ts";
import { indexFile, waitUntilEmbedded } from "../client.fixture.ts";

let app: App;
let admin: TestUser;
let browser: Browser;
let opened: OpenPage;
let page: Page;

const river = `# Rivers

The Wend rises in the hills above Harrow and reaches the sea after ninety miles.

## Floods

In the winter of 1912 the lower meadows stood under water for six weeks, and the ferry was moved to the church.

## Fish

Eels were caught with wicker traps below the weir until the sluice was rebuilt.`;

describe.skipIf(chromiumPath === undefined)("the retrieval lab", () => {
  beforeAll(async () => {
    await buildInterface();
    const env = { CHUNK_SIZE: "200", CHUNK_OVERLAP: "0", CHUNK_MIN_SIZE_TARGET: "0" };
    [app, browser] = await Promise.all([startApp({ env }), openBrowser()]);
    admin = await app.admin();
    const file = await indexFile(app, admin.token, ["rivers.md", river]);
    await waitUntilEmbedded(app, [file]);
    opened = await openPage(browser, { url: app.url, token: admin.token, path: "/workspace/retrieval-lab" });
    page = opened.page;
  }, 240_000);
  afterAll(async () => {
    await opened?.close();
    await browser?.close();
    await app?.close();
  });

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });

  test(
    "a keeper asks, reads every step, and keeps the question with its answer",
    { timeout: 60_000 },
    async () => {
      await page.getByRole("textbox", { name: "Question" }).fill("how were eels caught?");
      expect(await button("Search").isDisabled()).toBe(true);
      await button("Choose collections and files").click();
      await page.getByRole("searchbox", { name: "Find a collection or file" }).fill("rivers");
      await page.getByRole("checkbox", { name: "rivers.md" }).check();
      await page.keyboard.press("Escape");
      await button("Search").click();
      const first = page.getByRole("list", { name: "Passages" }).getByRole("listitem").first();
      await first.getByText("wicker traps").waitFor();
      await page.getByRole("tab", { name: /^Words/ }).click();
      await page.getByRole("list", { name: "Words" }).getByText("wicker traps").waitFor();
      await page.getByRole("tab", { name: "Prompt" }).click();
      await page.getByText(/<source id="1"/).waitFor();
      await expectNoAxeFindings(page);
      await page.getByRole("tab", { name: /^Passages/ }).click();
      await first.getByRole("checkbox", { name: "Answers the question" }).check();
      await button("Keep with 1 passage").click();
      await page.getByRole("list", { name: "Golden questions" }).getByText("how were eels caught?").waitFor();
      await button("Run the golden set").click();
      await page.getByRole("group", { name: "Last run" }).getByText("100%").waitFor();
      await page.getByText("place 1").waitFor();
    },
  );

  test("two settings stand side by side, and a wrong number is named", { timeout: 60_000 }, async () => {
    await button("Compare two settings").click();
    const second = page.getByRole("group", { name: "Settings B" });
    await second.getByRole("textbox", { name: "Passages" }).fill("0");
    await second.getByText("A whole number from 1 to 100.").waitFor();
    expect(await button("Search").isDisabled()).toBe(true);
    await second.getByRole("textbox", { name: "Passages" }).fill("1");
    await button("Search").click();
    const b = page.getByRole("region", { name: "Result with B" });
    await b.getByRole("tab", { name: "Passages 1" }).waitFor();
    await b.getByRole("tab", { name: /^Left out/ }).click();
    await b.getByText("beyond the number of passages").first().waitFor();
    await page
      .getByRole("region", { name: "Result with A" })
      .getByRole("tab", { name: /^Passages/ })
      .waitFor();
    await expectNoAxeFindings(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectNoAxeFindings(page);
    const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(isWide).toBe(false);
    expect(opened.problems).toEqual([]);
  });
});
