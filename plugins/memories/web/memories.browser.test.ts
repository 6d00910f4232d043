import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";

describe.skipIf(!chromiumPath)("the page of memories", () => {
  let app: App;
  let browser: Browser;

  beforeAll(async () => {
    await buildInterface();
    app = await startApp();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  test("adds, changes, finds, forgets and takes back", async () => {
    const { token } = await app.admin();
    const { page, close } = await openPage(browser, { url: app.url, token, path: "/settings/memories" });
    await page.getByText("Nothing is remembered yet.").waitFor();
    const use = page.getByRole("switch", { name: "Use memories in chats" });
    await use.click();
    await expect
      .poll(async () => (await app.call("GET /api/v1/users/user/settings", { token })).body?.ui?.memory)
      .toBe(true);

    await page.getByRole("button", { name: "Add a memory" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "To remember" }).fill("Builds a water mill");
    await dialog.getByText("Your work", { exact: true }).click();
    await dialog.getByRole("textbox", { name: "Place" }).fill("work/mill");
    await expectNoAxeFindings(page, "[role=dialog]");
    await dialog.getByRole("button", { name: "Save" }).click();
    const about = page.getByRole("region", { name: "About your work" });
    await about.getByText("Builds a water mill").waitFor();
    await about.getByText("work/mill").waitFor();

    await page.getByRole("button", { name: "Actions for “Builds a water mill”" }).click();
    await page.getByRole("menuitem", { name: "Change" }).click();
    await dialog.getByRole("textbox", { name: "To remember" }).fill("Builds a windmill");
    await dialog.getByRole("button", { name: "Save" }).click();
    await about.getByText("Builds a windmill").waitFor();
    await page.getByRole("searchbox", { name: "Search memories" }).fill("boat");
    await page.getByText("No memory matches.").waitFor();
    await page.getByRole("searchbox", { name: "Search memories" }).fill("wind");
    await expectNoAxeFindings(page);

    await page.getByRole("button", { name: "Actions for “Builds a windmill”" }).click();
    await page.getByRole("menuitem", { name: "Forget" }).click();
    await page.getByText("Nothing is remembered yet.").waitFor();
    await page
      .getByRole("list", { name: "Recent changes" })
      .getByRole("button", { name: "Undo" })
      .first()
      .click();
    await about.getByText("Builds a windmill").waitFor();

    await page.getByRole("button", { name: "Forget everything" }).click();
    await page.getByRole("alertdialog").or(dialog).getByRole("button", { name: "Forget everything" }).click();
    await page.getByText("Nothing is remembered yet.").waitFor();
    expect((await app.call("GET /api/v1/memories/", { token })).body).toEqual([]);
    await close();
  });
});
