import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import type { App } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { scimClient, startScim } from "../scim.fixture.ts";

let app: App;
let page: Page;
let token: string;

describeInterface("the page of provisioning", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    app = await keep(startScim());
    ({ token } = await app.admin());
    await scimClient(app.url).call("GET /Users?filter=nonsense");
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token, path: "/admin/scim" }));
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
