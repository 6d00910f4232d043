import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";

/** Two busy cores may take longer than the default second. */
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 });

const slow = 120_000;
let app: App;
let browser: Browser;

beforeAll(async () => {
  if (chromiumPath) {
    await buildInterface();
    app = await startApp();
    browser = await openBrowser();
  }
}, slow);

afterAll(async () => {
  await browser?.close();
  await app?.close();
});

test.skipIf(!chromiumPath)(
  "the search beside the settings leads to pages and to single settings, by keys and on a phone",
  async () => {
    const { token } = await app.user();
    const { page, close } = await openPage(browser, { url: app.url, token, path: "/settings/account" });
    const field = page.getByRole("combobox", { name: "Search settings" });
    await field.fill("wrap");
    const options = page.getByRole("option");
    await options.filter({ hasText: "Wrap code" }).waitFor();
    expect(await options.first().getAttribute("aria-selected")).toBe("true");
    await expectNoAxeFindings(page);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/settings/interface");
    await poll(() =>
      page.evaluate(
        () =>
          document.activeElement?.getAttribute("aria-label") ??
          document.activeElement?.closest("[data-setting]")?.getAttribute("data-setting"),
      ),
    ).toBe("Wrap code");
    await page.getByRole("switch", { name: "Wrap code" }).waitFor();
    expect(await field.inputValue()).toBe("");

    // A setting of the page that is open already, by the second line of the list.
    await field.fill("size");
    await options.filter({ hasText: "Size of text" }).click();
    await poll(() => page.locator("[data-found]").getAttribute("data-setting")).toBe("Size of text");
    await field.fill("no such thing");
    await page.getByText("No setting is called “no such thing”.").waitFor();
    await field.press("Escape");
    await page.getByRole("link", { name: "Account", exact: true }).waitFor();
    await close();

    const phone = await openPage(browser, {
      url: app.url,
      token,
      path: "/settings/interface",
      size: "phone",
      locale: "de-DE",
      theme: "dark",
    });
    await phone.page.getByRole("button", { name: "Einstellungen suchen" }).click();
    await phone.page.getByRole("combobox", { name: "Einstellungen suchen" }).fill("passwort");
    await expectNoAxeFindings(phone.page);
    await phone.page.getByRole("option", { name: "Passwort" }).click();
    await phone.page.waitForURL("**/settings/account");
    await poll(() => phone.page.locator("[data-found]").getAttribute("data-setting")).toBe("Passwort");
    await phone.close();
  },
  slow,
);

test.skipIf(!chromiumPath)(
  "pages of administrators stand under headings, and the open one is in sight",
  async () => {
    const { token } = await app.admin();
    const { page, close } = await openPage(browser, { url: app.url, token, path: "/admin/audit" });
    const list = page.getByRole("navigation", { name: "Administration" });
    await list.getByRole("link", { name: "Audit" }).waitFor();
    expect(await list.getByRole("heading").allTextContents()).toEqual([
      "People",
      "Models and tools",
      "Reports",
      "This server",
    ]);
    const current = list.getByRole("link", { name: "Audit" });
    expect(await current.getAttribute("aria-current")).toBe("page");
    // Positions may lie between two pixels.
    await poll(() =>
      current.evaluate((link) => link.getBoundingClientRect().top + 20 < globalThis.innerHeight),
    ).toBe(true);
    await expectNoAxeFindings(page);
    await close();
  },
  slow,
);
