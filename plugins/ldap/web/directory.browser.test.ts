import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage, type OpenPage } from "#test/support/interface.ts";
import { directoryBase, hasSlapd, startDirectory, type TestDirectory } from "../slapd.fixture.ts";

let directory: TestDirectory;
let app: App;
let browser: Browser;
let opened: OpenPage;
let page: Page;

describe.skipIf(chromiumPath === undefined || !hasSlapd)("the page of the directory", () => {
  beforeAll(async () => {
    const attributes = {
      objectClass: "inetOrgPerson",
      cn: "Ada",
      sn: "Ada",
      mail: "ada@mill.test",
      userPassword: "right",
    };
    directory = await startDirectory([
      { dn: `uid=ada,${directoryBase}`, attributes: { ...attributes, uid: "ada" } },
    ]);
    await buildInterface();
    const env = {
      LDAP_SERVER_HOST: "127.0.0.1",
      LDAP_SERVER_PORT: String(directory.port),
      LDAP_USE_TLS: "false",
      LDAP_APP_DN: directory.appDn,
      LDAP_APP_PASSWORD: directory.appPassword,
      LDAP_SEARCH_BASE: directoryBase,
    };
    [app, browser] = await Promise.all([startApp({ env }), openBrowser()]);
    const { token } = await app.admin();
    opened = await openPage(browser, { url: app.url, token, path: "/admin/directory" });
    page = opened.page;
  }, 90_000);

  afterAll(async () => {
    await opened?.close();
    await browser?.close();
    await app?.close();
    await directory?.close();
  });

  async function tryLogin(user: string, password: string): Promise<void> {
    await page.getByLabel("Name in the directory").fill(user);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Test", exact: true }).click();
  }

  test("tries a login step by step", async () => {
    await page.getByText(`searches below ${directoryBase}`).waitFor();
    await tryLogin("ada", "wrong");
    await page.getByText("Would not sign in").waitFor();
    await page.getByText("The password is not right.", { exact: true }).waitFor();
    await tryLogin("ada", "right");
    await page.getByText("Would make an account for Ada").waitFor();
    await page.getByText("ada@mill.test").waitFor();
    await expectNoAxeFindings(page);
  });

  test("switches the sign-in on, and the sign-in page then offers it", async () => {
    await page.getByRole("switch", { name: "People may sign in at the directory" }).click();
    await expect
      .poll(async () => (await app.call("GET /api/config")).body.features.enable_ldap, { timeout: 10_000 })
      .toBe(true);
    const visitor = await browser.newPage();
    await visitor.goto(app.url);
    await visitor.getByRole("button", { name: "Sign in with the directory" }).click();
    await visitor.getByLabel("User name").fill("ada");
    await visitor.getByLabel("Password", { exact: true }).fill("right");
    await visitor.keyboard.press("Enter");
    await expect
      .poll(async () => (await visitor.context().cookies()).some(({ name }) => name === "token"), {
        timeout: 10_000,
      })
      .toBe(true);
    await visitor.close();
  });
});
