import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, openPage } from "#test/support/interface.ts";
import { text } from "#test/support/upstream-scripts.ts";

const slow = 120_000;
/** Every key that is a shortcut by itself, in a text. */
const keys = "// gateway, msgs? j k e r [x] G C ? :";
let world: AppWithUpstream;
let browser: Browser;
let token: string;

beforeAll(async () => {
  if (chromiumPath) {
    await buildInterface();
    world = await startAppWithUpstream({ models: ["alpha", "beta"] });
    world.upstream.always("/chat/completions", text("The wheel turns."));
    ({ token } = await world.app.admin());
    browser = await openBrowser();
  }
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

const open = (path: string) => openPage(browser, { url: world.app.url, token, path });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
const message = (page: Page) => page.getByRole("textbox", { name: "Message", exact: true });

test.skipIf(!chromiumPath)(
  "no key of a text is a shortcut, in a shadow root either",
  { timeout: slow },
  async () => {
    const { page, close } = await open("/workspace/new-function");
    const code = page.getByRole("textbox", { name: "Code of the function" });
    await code.click();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type(`const x = a ? 1 : 2; ${keys}`);
    await expect.poll(() => code.innerText()).toContain(`const x = a ? 1 : 2; ${keys}`);
    expect(new URL(page.url()).pathname).toBe("/workspace/new-function");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await close();
  },
);

test.skipIf(!chromiumPath)(
  "the caret stands in the composer, and what is typed elsewhere begins a message",
  { timeout: slow },
  async () => {
    const { page, close } = await open("/");
    await expect.poll(() => focused(page)).toBe("Message");
    await page.keyboard.type("Does it turn?");
    await page.keyboard.press("Enter");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await expect.poll(() => focused(page)).toBe("Message");
    await page.getByText("The wheel turns.", { exact: true }).click();
    await page.keyboard.type("just go [on] k?");
    expect(await message(page).inputValue()).toBe("just go [on] k?");
    await page.getByRole("link", { name: "New chat" }).click();
    await page.waitForURL((url) => url.pathname === "/");
    await expect.poll(() => focused(page)).toBe("Message");
    await close();
  },
);

test.skipIf(!chromiumPath)("a starter waits for the text that it needs", { timeout: slow }, async () => {
  const { page, close } = await open("/");
  const asked = world.upstream.requests.length;
  await page.getByRole("button", { name: /Find the mistake/ }).click();
  await page.keyboard.type("const a");
  await expect.poll(() => message(page).inputValue()).toContain("```\nconst a\n```");
  expect(world.upstream.requests.length).toBe(asked);
  await close();
});

test.skipIf(!chromiumPath)(
  "a comparison belongs to its chat, and a new one begins with the model used last",
  { timeout: slow },
  async () => {
    const { page, close } = await open("/?models=beta");
    await message(page).click();
    await page.keyboard.type("One");
    await page.keyboard.press("Enter");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.goto(`${world.app.url}/?models=alpha,beta`);
    await message(page).click();
    await page.keyboard.type("Two");
    await page.keyboard.press("Enter");
    await page.getByText("The wheel turns.", { exact: true }).nth(1).waitFor();
    await page.waitForURL(/\/c\//);
    // Another browser knows what the server keeps.
    const other = await open("/");
    await other.page.getByRole("button", { name: "Model: beta" }).waitFor();
    await other.close();
    await page.getByRole("button", { name: /^Models:/ }).click();
    await expect.poll(() => focused(page)).toBe("Search models");
    await page.getByRole("button", { name: "Only one" }).click();
    await page.getByRole("button", { name: "Model: alpha" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Model: alpha" }).waitFor();
    await close();
  },
);

test.skipIf(!chromiumPath)(
  "a setting that somebody changes leaves the page that is typed into as it is",
  { timeout: slow },
  async () => {
    const { page, close } = await open("/workspace/models/new");
    for (const path of ["/workspace/models/new", "/workspace/new-function"]) {
      await page.goto(world.app.url + path);
      const field = await page.getByRole("textbox", { name: "Name", exact: true }).elementHandle();
      await field?.click();
      await page.keyboard.type("Weir");
      const readAgain = page.waitForResponse((response) => response.url().endsWith("/api/v1/pages"));
      await world.app.running.registry.set({ ENABLE_CHANNELS: path === "/workspace/models/new" }, null);
      await readAgain;
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
      expect(await field?.evaluate((element) => element.isConnected)).toBe(true);
      expect(await field?.inputValue()).toContain("Weir");
    }
    await close();
  },
);

test.skipIf(!chromiumPath)("sections open their first page", { timeout: slow }, async () => {
  const { page, close } = await open("/settings");
  for (const section of ["settings", "admin", "workspace"]) {
    const answer = await page.goto(`${world.app.url}/${section}`);
    expect(answer?.status()).toBe(200);
    await page.waitForURL(new RegExp(`/${section}/[a-z]`));
  }
  await close();
});

test.skipIf(!chromiumPath)("language and time zone change, and stay changed", { timeout: slow }, async () => {
  const { page, close } = await open("/settings/account");
  const zone = page.getByRole("combobox", { name: "Time zone" });
  // The device's zone was taken over by itself.
  await expect.poll(() => zone.inputValue()).not.toBe("");
  await zone.click();
  await page.keyboard.type("zurich");
  await page.keyboard.press("Enter");
  await page.getByRole("status").filter({ hasText: "Saved" }).waitFor();
  expect(await zone.inputValue()).toBe("Europe/Zurich");
  await page.goto(`${world.app.url}/settings/interface`);
  await page.getByRole("combobox", { name: /^Language/ }).click();
  await page.keyboard.type("Deutsch");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Oberfläche" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Oberfläche" }).waitFor();
  await page.goto(`${world.app.url}/settings/account`);
  await expect
    .poll(() => page.getByRole("combobox", { name: "Zeitzone" }).inputValue())
    .toBe("Europe/Zurich");
  await close();
});
