import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";

const slow = 120_000;
let app: App;
let browser: Browser;
let token: string;

beforeAll(async () => {
  if (chromiumPath) {
    await buildInterface();
    app = await startApp();
    ({ token } = await app.admin());
    browser = await openBrowser();
  }
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
});

const open = (path: string, as = token) => openPage(browser, { url: app.url, token: as, path });
const codeOf = (page: Page) => page.getByRole("textbox", { name: "Code of the function" });
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });
const question = (page: Page) => dialog(page, "Discard what you typed?");

async function type(page: Page, code: string): Promise<void> {
  await codeOf(page).click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.type(code);
}

test.skipIf(!chromiumPath)(
  "an editor that was left or reloaded shows what was typed, until it is discarded or saved",
  { timeout: slow },
  async () => {
    const { page, close } = await open("/workspace/new-function");
    await type(page, "// kept");
    await page.getByRole("link", { name: "Notes", exact: true }).click();
    await page.waitForURL(/\/notes$/);
    await page.goBack();
    await page.getByText("Unsaved changes restored").waitFor();
    await expect.poll(() => codeOf(page).innerText()).toContain("// kept");
    await page.reload();
    await page.getByText("Unsaved changes restored").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Discard" }).click();
    await expect.poll(() => codeOf(page).innerText()).not.toContain("// kept");
    await page.reload();
    await codeOf(page).waitFor();
    expect(await page.getByText("Unsaved changes restored").count()).toBe(0);
    await close();
  },
);

test.skipIf(!chromiumPath)(
  "the first save leaves the caret where it is, and a refusal goes once the code loads",
  { timeout: slow },
  async () => {
    const { page, close } = await open("/workspace/new-function");
    await type(page, "const x = ;");
    await page.keyboard.press("ControlOrMeta+s");
    await page.getByText("Not saved. What is stored stays as it is.").waitFor();
    await page.keyboard.press("Backspace");
    await page.keyboard.type("1;");
    await page.getByText("Not saved. What is stored stays as it is.").waitFor({ state: "detached" });
    await page.keyboard.press("ControlOrMeta+s");
    await page.waitForURL(/\/workspace\/function\//);
    await page.keyboard.type(" // goes on");
    await expect.poll(() => codeOf(page).innerText()).toContain("const x = 1; // goes on");
    await close();
  },
);

test.skipIf(!chromiumPath)(
  "a dialog begins in its first field, and asks before typed text goes",
  { timeout: slow },
  async () => {
    const { page, close } = await open("/calendar");
    await page.getByRole("button", { name: "New event", exact: true }).click();
    const event = dialog(page, "New event");
    await event.waitFor();
    await page.keyboard.type("Meet Bob at six");
    const title = event.getByRole("textbox", { name: "Title" });
    await expect.poll(() => title.inputValue()).toBe("Meet Bob at six");
    await page.keyboard.press("Escape");
    await question(page).waitFor();
    await expectNoAxeFindings(page);
    // Escape closes the topmost thing alone.
    await page.keyboard.press("Escape");
    await question(page).waitFor({ state: "detached" });
    expect(await title.inputValue()).toBe("Meet Bob at six");
    await page.keyboard.press("Escape");
    await question(page).getByRole("button", { name: "Discard" }).click();
    await event.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "New event", exact: true }).click();
    await event.waitFor();
    await page.keyboard.press("Escape");
    await event.waitFor({ state: "detached" });
    await close();
  },
);

test.skipIf(!chromiumPath)(
  "a form that keeps no draft asks before it is left",
  { timeout: slow },
  async () => {
    const { page, close } = await open("/admin/users");
    await page.getByRole("link", { name: "Announcements", exact: true }).click();
    await page.getByRole("button", { name: /Add/ }).first().click();
    const field = page.getByRole("textbox", { name: "Title" });
    await field.click();
    await page.keyboard.type("Closed on Monday");
    await page.getByRole("link", { name: "Users", exact: true }).click();
    await question(page).getByRole("button", { name: "Keep editing" }).click();
    expect(new URL(page.url()).pathname).toBe("/admin/announcements");
    await page.goBack();
    await question(page).getByRole("button", { name: "Keep editing" }).click();
    expect(await field.inputValue()).toBe("Closed on Monday");
    expect(new URL(page.url()).pathname).toBe("/admin/announcements");
    await page.goBack();
    await question(page).getByRole("button", { name: "Discard" }).click();
    await page.waitForURL(/\/admin\/users$/);
    await close();
  },
);

test.skipIf(!chromiumPath)("a page stays as it is when its session ends", { timeout: slow }, async () => {
  const person = await app.user();
  const { page, close } = await open("/settings/account", person.token);
  const name = page.getByRole("textbox", { name: "Name", exact: true });
  await name.click();
  await page.keyboard.press("End");
  await page.keyboard.type(" of the mill");
  await app.call("POST /api/v1/auths/signout", { token: person.token });
  await page.keyboard.press("Enter");
  await page.getByText("Your session has ended. What you typed is still here.").waitFor();
  expect(await name.inputValue()).toContain(" of the mill");
  await close();
});
