import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

/** Two busy cores may take longer than the default second. */
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 });

describeInterface("the search of settings", ({ setUp, openPage }) => {
  let app: App;

  setUp(async (keep) => {
    app = await keep(startApp());
  });

  test("the search beside the settings leads to pages and to single settings, by keys and on a phone", async () => {
    const { token } = await app.user();
    const { page, close } = await openPage({ url: app.url, token, path: "/settings/account" });
    const field = page.getByRole("combobox", { name: "Search settings" });
    await write(field, "wrap");
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
    await write(field, "size");
    await options.filter({ hasText: "Size of text" }).click();
    await poll(() => page.locator("[data-found]").getAttribute("data-setting")).toBe("Size of text");
    await write(field, "no such thing");
    await page.getByText("No setting is called “no such thing”.").waitFor();
    await field.press("Escape");
    await page.getByRole("link", { name: "Account", exact: true }).waitFor();
    await close();

    const phone = await openPage({
      url: app.url,
      token,
      path: "/settings/interface",
      size: "phone",
      locale: "de-DE",
      theme: "dark",
    });
    await phone.page.getByRole("button", { name: "Einstellungen suchen" }).click();
    await write(phone.page.getByRole("combobox", { name: "Einstellungen suchen" }), "passwort");
    await expectNoAxeFindings(phone.page);
    await phone.page.getByRole("option", { name: "Passwort" }).click();
    await phone.page.waitForURL("**/settings/account");
    await poll(() => phone.page.locator("[data-found]").getAttribute("data-setting")).toBe("Passwort");
  });

  test("pages of administrators stand under headings, and the open one is in sight", async () => {
    const { token } = await app.admin();
    const { page } = await openPage({ url: app.url, token, path: "/admin/audit" });
    const list = page.getByRole("navigation", { name: "Administration" });
    await list.getByRole("link", { name: "Audit log" }).waitFor();
    expect(await list.getByRole("heading").allTextContents()).toEqual([
      "People",
      "Models and tools",
      "Reports",
      "This server",
    ]);
    const current = list.getByRole("link", { name: "Audit log" });
    expect(await current.getAttribute("aria-current")).toBe("page");
    // Positions may lie between two pixels.
    await poll(() =>
      current.evaluate((link) => link.getBoundingClientRect().top + 20 < globalThis.innerHeight),
    ).toBe(true);
    await expectNoAxeFindings(page);
  });
});
