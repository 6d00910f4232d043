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
    app = await startApp({
      env: {
        ENABLE_SIGNUP: "true",
        ENABLE_PASSWORD_VALIDATION: "true",
        PASSWORD_VALIDATION_REGEX_PATTERN: "[0-9]",
        PASSWORD_VALIDATION_HINT: "Put a digit in it.",
      },
    });
    browser = await openBrowser();
  }
}, slow);

afterAll(async () => {
  await browser?.close();
  await app?.close();
});

test.skipIf(!chromiumPath)(
  "the form tells the rules of passwords before it refuses, and the page can be installed",
  async () => {
    const { token } = await app.admin();
    const { page, context, close } = await openPage(browser, { url: app.url, path: "/auth", size: "phone" });
    await page.getByRole("button", { name: "No account yet? Create one" }).click();
    const password = page.getByLabel("Password");
    await page.getByText("At least 8 characters. Put a digit in it.").waitFor();
    expect(
      await password.evaluate(
        (field) => document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent,
      ),
    ).toMatch(/digit/);
    await expectNoAxeFindings(page);
    await page.getByLabel("Name").fill("Bo");
    await page.getByLabel("E-mail").fill("bo@mill.example");
    await password.fill("no digits in here");
    await page.getByRole("button", { name: "Create account" }).click();
    await poll(() => password.getAttribute("aria-invalid")).toBe("true");
    await page.getByText("Put a digit in it.").waitFor();

    const devtools = await context.newCDPSession(page);
    const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
    // A window of a test is a private one; nothing else may stand in the way.
    expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito")).toEqual(
      [],
    );
    const manifest = (await app.call("GET /manifest.json")).body;
    for (const { src, type } of manifest.icons as { src: string; type: string }[]) {
      const icon = await app.call(`GET ${src}`);
      expect([icon.status, icon.headers.get("content-type")?.split(";")[0]]).toEqual([200, type]);
    }
    await close();

    const account = await openPage(browser, { url: app.url, token, path: "/settings/account" });
    await account.page.getByText("At least 8 characters. Put a digit in it.").waitFor();
    await account.close();
  },
  slow,
);

test.skipIf(!chromiumPath)(
  "a tab that connects again to another release offers to load it",
  async () => {
    const { token } = await app.admin();
    const { page, close } = await openPage(browser, { url: app.url, token });
    let disconnect: () => void = () => undefined;
    await page.routeWebSocket("**/ws", (socket) => {
      socket.connectToServer();
      disconnect = () => void socket.close();
    });
    await page.reload();
    const { body: running } = await app.call("GET /api/version");
    await page.getByText("What is on your mind").waitFor();
    // The next release answers in the place of this one, as after a deploy.
    await page.route("**/api/version", (route) => route.fulfill({ json: { ...running, version: "99.0.0" } }));
    disconnect();
    await page.getByText("A new version is ready.").waitFor();
    await expectNoAxeFindings(page);
    await page.unroute("**/api/version");
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByText("A new version is ready.").waitFor({ state: "detached" });
    await page.getByText("What is on your mind").waitFor();
    await close();
  },
  slow,
);
