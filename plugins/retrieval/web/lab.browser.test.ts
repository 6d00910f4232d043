import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { indexFile, waitUntilEmbedded } from "../client.fixture.ts";

let app: App;
let admin: TestUser;
let page: Page;

const river = `# Rivers

The Wend rises in the hills above Harrow and reaches the sea after ninety miles.

## Floods

In the winter of 1912 the lower meadows stood under water for six weeks, and the ferry was moved to the church.

## Fish

Eels were caught with wicker traps below the weir until the sluice was rebuilt.`;

describeInterface("the retrieval lab", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    const env = { CHUNK_SIZE: "200", CHUNK_OVERLAP: "0", CHUNK_MIN_SIZE_TARGET: "0" };
    app = await keep(startApp({ env }));
    admin = await app.admin();
    const file = await indexFile(app, admin.token, ["rivers.md", river]);
    await waitUntilEmbedded(app, [file]);
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token: admin.token, path: "/workspace/retrieval-lab" }));
  });

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });

  test("a keeper asks, reads every step, and keeps the question with its answer", async () => {
    await write(page.getByRole("textbox", { name: "Question" }), "how were eels caught?");
    expect(await button("Search").isDisabled()).toBe(true);
    await button("Choose collections and files").click();
    await write(page.getByRole("searchbox", { name: "Find a collection or file" }), "rivers");
    await page.getByRole("checkbox", { name: "rivers.md" }).click();
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
    await first.getByRole("checkbox", { name: "Answers the question" }).click();
    await button("Keep with 1 passage").click();
    await page.getByRole("list", { name: "Golden questions" }).getByText("how were eels caught?").waitFor();
    await button("Run the golden set").click();
    await page.getByRole("group", { name: "Last run" }).getByText("100%").waitFor();
    await page.getByText("place 1").waitFor();
  });

  test("two settings stand side by side, and a wrong number is named", async () => {
    await write(page.getByRole("textbox", { name: "Question" }), "how were eels caught?");
    await button("Choose collections and files").click();
    await page.getByRole("checkbox", { name: "rivers.md" }).click();
    await page.keyboard.press("Escape");
    await button("Compare two settings").click();
    const second = page.getByRole("group", { name: "Settings B" });
    await write(second.getByRole("textbox", { name: "Passages" }), "0");
    await second.getByText("A whole number from 1 to 100.").waitFor();
    expect(await button("Search").isDisabled()).toBe(true);
    await write(second.getByRole("textbox", { name: "Passages" }), "1");
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
  });
});
