import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage, type OpenPage } from "#test/support/interface.ts";
import { scimClient, startScim } from "../scim.fixture.ts";

let app: App;
let browser: Browser;
let opened: OpenPage;
let page: Page;

describe.skipIf(chromiumPath === undefined)("the page of provisioning", () => {
  beforeAll(async () => {
    await buildInterface();
    [app, browser] = await Promise.all([startScim(), openBrowser()]);
    const { token } = await app.admin();
    await scimClient(app.url).call("GET /Users?filter=nonsense");
    opened = await openPage(browser, { url: app.url, token, path: "/admin/scim" });
    page = opened.page;
  }, 180_000);

  afterAll(async () => {
    await opened?.close();
    await browser?.close();
    await app?.close();
  });

  test("shows the state, the address, the last calls and where attributes go", async () => {
    await page.getByText(`${app.url}/api/v1/scim/v2`, { exact: true }).waitFor();
    await page.getByText("GET /Users?filter=nonsense").waitFor();
    await page.getByText("User.userName").waitFor();
    expect(await page.content()).not.toContain("scim-token");
    await expectNoAxeFindings(page);
  });

  test("tries the calls of a provider, and shows what each answered", async () => {
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("All 13 calls answer as they should.").waitFor();
    await page.getByText("Switch the person off").click();
    await page.getByText('"active": false').first().waitFor();
    await expectNoAxeFindings(page);
  });
});
