import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
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

    const arrives = page.waitForEvent("download");
    await row(page)
      .getByRole("link", { name: /^Download the backup of/ })
      .click();
    const download = await arrives;
    expect(download.suggestedFilename()).toMatch(/^millrace-.*\.tar\.gz$/);
    const { size } = await stat(await download.path());
    const { body } = await app.call("GET /api/v1/backups", { token });
    expect(size).toBe(body.items[0].bytes);

    await row(page)
      .getByRole("button", { name: /^Delete the backup of/ })
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await row(page).getByText("Removed").waitFor();
    const { id, place, name } = body.items[0];
    expect(existsSync(join(place, name))).toBe(false);
    expect((await app.call(`GET /api/v1/backups/${id}/download`, { token })).status).toBe(404);
    await page.getByRole("link", { name: "Schedule and place" }).click();
    await page.getByText("BACKUP_SCHEDULE").waitFor();
    expect((await app.call("GET /api/v1/backups", { token: (await app.user()).token })).status).toBe(403);
  });
});

const row = (page: Page) => page.getByRole("listitem").filter({ hasText: ".tar.gz" });
