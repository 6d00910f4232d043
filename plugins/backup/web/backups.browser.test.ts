import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

let app: App;
let token: string;

describeInterface("the page of backups", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    app = await keep(startApp());
    ({ token } = await app.admin());
  });

  test("an administrator takes a backup, and has its restore checked", async () => {
    const { page } = await openPage({ url: app.url, token, path: "/admin/backups" });
    await page.getByText("No backup yet.").waitFor();
    await page.getByRole("button", { name: "Back up now" }).click();
    await row(page)
      .getByText(/\d kB · .*\.tar\.gz/)
      .waitFor();
    await row(page).getByRole("button", { name: "Check the restore" }).click();
    await row(page).getByText("Restore is being checked").waitFor();
    // A whole database is filled meanwhile.
    await row(page).getByText("Restored and compared").waitFor({ timeout: 180_000 });
    await expectNoAxeFindings(page);
    await page.getByRole("link", { name: "Schedule and place" }).click();
    await page.getByText("BACKUP_SCHEDULE").waitFor();
    expect((await app.call("GET /api/v1/backups", { token: (await app.user()).token })).status).toBe(403);
  });
});

const row = (page: Page) => page.getByRole("listitem").filter({ hasText: ".tar.gz" });
