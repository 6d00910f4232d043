import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { choose, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

let app: App;
let admin: TestUser;
let person: TestUser;
let page: Page;

describeInterface("the audit record", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    app = await keep(startApp());
    admin = await app.admin();
    person = await app.user();
    const { token } = admin;
    await app.call(`POST /api/v1/users/${person.id}/update`, {
      token,
      body: { role: "admin", name: person.name, email: person.email },
    });
    for (let turn = 1; turn <= 55; turn += 1) {
      await app.call("POST /api/v1/configs/settings", {
        token,
        body: { RESPONSE_WATERMARK: `mark ${turn}` },
      });
    }
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token: admin.token, path: "/admin/audit", size: "phone" }));
  });

  const records = () => page.getByRole("list", { name: "Records" }).getByRole("listitem");

  test("lists the latest first and earlier ones behind them", async () => {
    await expect.poll(() => records().count(), { timeout: 5000 }).toBe(50);
    await page.getByRole("button", { name: "Show earlier ones" }).click();
    await expect.poll(() => records().count(), { timeout: 5000 }).toBe(57);
    await page.getByText("admin changed the setting “Response watermark”").first().waitFor();
    await expectNoAxeFindings(page);
  });

  test("narrows down, and shows what stood there before and after, and from where", async () => {
    await choose(page, "Action", "user.updated");
    await expect.poll(() => records().count(), { timeout: 5000 }).toBe(1);
    await records().first().getByRole("button").click();
    const table = page.getByRole("table", { name: "Before and after" });
    await table.getByRole("row", { name: "role user admin" }).waitFor();
    await records()
      .first()
      .getByText(/127\.0\.0\.1|::1/)
      .waitFor();
    await expectNoAxeFindings(page);
    await choose(page, "Action", "All actions");
    await write(page.getByRole("searchbox", { name: "Object" }), "nothing of this name");
    await page.getByText("No record fits.").waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await expect.poll(() => records().count(), { timeout: 5000 }).toBe(50);
  });

  test("exports what the filters leave", async () => {
    await write(page.getByRole("searchbox", { name: "Object" }), person.name);
    await expect.poll(() => records().count(), { timeout: 5000 }).toBe(2);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export as JSON Lines" }).click();
    const pieces: Buffer[] = [];
    for await (const piece of await (await download).createReadStream()) {
      pieces.push(piece as Buffer);
    }
    const lines = Buffer.concat(pieces).toString().trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).action)).toEqual(["user.created", "user.updated"]);
  });
});
