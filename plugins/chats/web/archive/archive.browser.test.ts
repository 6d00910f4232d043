import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";

const slow = 120_000;
const script = "<img src=x onerror=alert(1)>";
let app: App;
let browser: Browser;

beforeAll(async () => {
  if (chromiumPath) {
    await buildInterface();
    app = await startApp();
    browser = await openBrowser();
  }
}, slow);

afterAll(async () => {
  await browser?.close();
  await app?.close();
});

async function archive({ token }: TestUser, title: string): Promise<string> {
  const made = await app.call("POST /api/v1/chats/new", {
    token,
    body: { chat: { title, models: [], messages: [] } },
  });
  const done = await app.call(`POST /api/v1/chats/${made.body.id}/archive`, { token });
  expect([made.status, done.status]).toEqual([200, 200]);
  return made.body.id;
}

async function archived({ token }: TestUser): Promise<string[]> {
  const { body } = await app.call("GET /api/v1/chats/archived", { token });
  return body.map(({ title }: { title: string }) => title).toSorted();
}

test.skipIf(!chromiumPath)(
  "archived chats are searched, brought back and deleted, each with undo",
  async () => {
    const admin = await app.admin();
    await archive(admin, "Boats");
    await archive(admin, "Rivers");
    await archive(admin, script);
    const { page, close } = await openPage(browser, { url: app.url, token: admin.token, path: "/archived" });
    const main = page.getByRole("main");
    const row = (title: string) => main.getByRole("listitem").filter({ hasText: title });
    const undo = page.getByRole("button", { name: "Undo" });
    await row(script).waitFor();
    await expectNoAxeFindings(page);

    await main.getByRole("searchbox", { name: "Search in archived chats" }).fill("riv");
    await row("Boats").waitFor({ state: "detached" });
    await main.getByRole("searchbox").fill("");
    await row("Boats").waitFor();

    await page.getByRole("button", { name: "Bring “Boats” back" }).click();
    await undo.waitFor();
    expect(await archived(admin)).toEqual([script, "Rivers"]);
    await undo.click();
    await row("Boats").waitFor();
    await expect.poll(() => archived(admin)).toEqual([script, "Boats", "Rivers"]);

    await page.getByRole("button", { name: "Delete “Rivers”" }).click();
    await row("Rivers").waitFor({ state: "detached" });
    await undo.click();
    await row("Rivers").waitFor();
    expect(await archived(admin)).toContain("Rivers");

    await page.getByRole("button", { name: "Bring all back" }).click();
    await page
      .getByRole("dialog")
      .or(page.getByRole("alertdialog"))
      .getByRole("button", { name: "Bring all back" })
      .click();
    await page.getByText("No archived chats.").waitFor();
    expect(await archived(admin)).toEqual([]);
    await close();
  },
  slow,
);
