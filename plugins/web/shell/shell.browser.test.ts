import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { json } from "#test/support/upstream-scripts.ts";

const slow = 120_000;
const password = "Grinding-stones-1";
let app: App;
let browser: Browser;
let upstream: Upstream;

beforeAll(async () => {
  if (chromiumPath) {
    await buildInterface();
    upstream = await startUpstream();
    upstream.models = ["miller-large", "miller-small"];
    app = await startApp({ env: { DEFAULT_USER_ROLE: "pending", ENABLE_SIGNUP: "true" } });
    browser = await openBrowser();
  }
}, slow);

afterAll(async () => {
  await browser?.close();
  await app?.close();
  await upstream?.close();
});

const signIn = async (email: string) =>
  (await app.call("POST /api/v1/auths/signin", { body: { email, password } })).body.token as string;

test.skipIf(!chromiumPath)(
  "the first account becomes the administrator and connects a model",
  async () => {
    const dark = await openPage(browser, { url: app.url, theme: "dark", size: "phone" });
    await dark.page.getByRole("heading", { name: "Create the first account" }).waitFor();
    await expectNoAxeFindings(dark.page);
    await dark.close();

    const { page, close } = await openPage(browser, { url: app.url });
    await page.getByRole("heading", { name: "Create the first account" }).waitFor();
    await expectNoAxeFindings(page);
    await page.getByLabel("Name").fill("Ada Miller");
    await page.getByLabel("E-mail").fill("ada@mill.example");
    await page.getByLabel("Password").fill("short");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("The password must have at least 8 characters.").waitFor();
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Create account" }).click();

    await page.getByRole("heading", { name: "Connect a model" }).waitFor();
    await page.getByLabel("Address").fill(upstream.url);
    await page.getByLabel("Key").fill("key");
    upstream.reply("/models", json({ error: { message: "no" } }, { status: 401 }));
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText("The provider refused with status 401: no").waitFor();
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText("2 models found").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Save and begin" }).click();
    await page.getByRole("navigation", { name: "Sidebar" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    await close();

    const token = await signIn("ada@mill.example");
    const { body } = await app.call("GET /compat/config", { token });
    expect(body).toMatchObject({
      OPENAI_API_BASE_URLS: [upstream.url],
      OPENAI_API_CONFIGS: { 0: { access: "everyone" } },
    });
  },
  slow,
);

test.skipIf(!chromiumPath)(
  "the next account waits until it is let in",
  async () => {
    const { page, close } = await openPage(browser, { url: app.url, path: "/auth?redirect=//evil.example" });
    await page.getByLabel("E-mail").fill("ada@mill.example");
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("alert").waitFor();
    await page.getByRole("button", { name: "No account yet? Create one" }).click();
    await page.getByLabel("Name").fill("Ben");
    await page.getByLabel("E-mail").fill("ben@mill.example");
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Your account waits for activation" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    await expectNoAxeFindings(page);

    const token = await signIn("ada@mill.example");
    const { body } = await app.call("GET /api/v1/users/", { token });
    const ben = body.users.find(({ email }: { email: string }) => email === "ben@mill.example");
    const { name, email, profile_image_url } = ben;
    const update = await app.call(`POST /api/v1/users/${ben.id}/update`, {
      token,
      body: { role: "user", name, email, profile_image_url },
    });
    expect(update.status).toBe(200);
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByText("Sign in once more").waitFor();
    expect(await page.getByLabel("E-mail").inputValue()).toBe(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("navigation", { name: "Sidebar" }).waitFor();
    await close();
  },
  slow,
);

test.skipIf(!chromiumPath)(
  "the palette and the help are reached by keyboard, and an unknown address says so",
  async () => {
    const token = await signIn("ada@mill.example");
    const { page, close } = await openPage(browser, { url: app.url, token, path: "/nowhere" });
    await page.getByText("There is nothing at this address.").waitFor();

    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Search and commands").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Search and commands" });
    await field.fill("settings");
    await page.getByRole("option").nth(1).waitFor();
    await expectNoAxeFindings(page, '[role="dialog"]');
    const first = await page.getByRole("option", { selected: true }).innerText();
    await page.keyboard.press("ArrowDown");
    const second = page.getByRole("option", { selected: true });
    expect(await second.innerText()).not.toBe(first);
    await field.fill("interface");
    await page.getByRole("option", { name: "Interface" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/settings/interface");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await close();
  },
  slow,
);
