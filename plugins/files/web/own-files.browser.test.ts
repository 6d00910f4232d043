import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings, type OpenOptions } from "#test/support/interface.ts";
import { upload } from "../client.fixture.ts";

/** Two busy cores may take longer than the default second. */
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 });

describeInterface("the page of one's own files", ({ setUp, openPage }) => {
  let app: App;

  setUp(async (keep) => {
    app = await keep(startApp({ env: { FILE_QUOTA_PER_USER: "2" } }));
    // Administrators see everybody's files elsewhere.
    await upload(app, ["of-somebody-else.txt", "x"], { token: (await app.user()).token });
  });

  async function store(owner: TestUser, names: readonly string[], content = "x"): Promise<void> {
    for (const name of names) {
      expect(
        (await upload(app, [name, content], { token: owner.token, query: "?process=false" })).status,
      ).toBe(200);
    }
  }

  async function open({ token }: TestUser, options: Partial<OpenOptions> = {}): Promise<Page> {
    const { page } = await openPage({ url: app.url, token, path: "/settings/files", ...options });
    return page;
  }

  const rowsOf = (page: Page) => page.getByRole("list", { name: "Files" }).getByRole("listitem");
  const deleteOf = (page: Page, name: string) => page.getByRole("button", { name: `Delete “${name}”` });
  const namesOf = async ({ token }: TestUser): Promise<string[]> =>
    (await app.call("GET /api/v1/files/?mine=true&content=false", { token })).body.items.map(
      ({ filename }: { filename: string }) => filename,
    );

  test("shows what is stored and makes room by deleting, with undo", async () => {
    const owner = await app.admin();
    await store(owner, ["wheel.txt"], "x".repeat(1024 * 1024));
    await store(owner, ["sack.txt", "stone.txt"], "x".repeat(1000));
    const page = await open(owner, { path: "/settings/account" });
    const menu = page.getByRole("navigation", { name: "Settings" });
    await menu.getByRole("link", { name: "Files", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
    await page.getByText("1 of 2 MB used").waitFor();
    expect(await page.getByRole("progressbar", { name: "Storage" }).getAttribute("aria-valuenow")).toBe("50");
    await poll(() => rowsOf(page).count()).toBe(3);
    expect(await rowsOf(page).filter({ hasText: "wheel.txt" }).textContent()).toContain("1 MB");
    await expectNoAxeFindings(page);

    await deleteOf(page, "wheel.txt").click();
    await poll(() => rowsOf(page).count()).toBe(2);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "wheel.txt" }).waitFor();

    // By keys: the next row has the focus afterwards.
    await deleteOf(page, "wheel.txt").focus();
    await page.keyboard.press("Enter");
    await poll(() => rowsOf(page).count()).toBe(2);
    await poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "")).toMatch(
      /^Delete “s/,
    );
    // A file whose time for undo is not over stays away when the page comes back.
    await menu.getByRole("link", { name: "Account", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
    await menu.getByRole("link", { name: "Files", exact: true }).click();
    await poll(() => rowsOf(page).count()).toBe(2);
    await expect.poll(() => namesOf(owner), { timeout: 30_000 }).not.toContain("wheel.txt");
    await page.getByText("0.1 of 2 MB used").waitFor();
    expect(await rowsOf(page).count()).toBe(2);
    expect((await namesOf(owner)).toSorted()).toEqual(["sack.txt", "stone.txt"]);

    await page.getByRole("link", { name: "stone.txt" }).click();
    await page.waitForURL(/\/files\/[0-9a-f-]{36}$/);
    await page.getByRole("heading", { level: 1, name: "stone.txt" }).waitFor();
  });

  test("finds a file by its name, and lists many by the page, on a phone in the dark", async () => {
    const owner = await app.user();
    const page = await open(owner, { size: "phone", theme: "dark" });
    await page.getByText("No files yet").waitFor();
    await page.getByText("0 of 2 MB used").waitFor();
    await expectNoAxeFindings(page);
    await store(owner, ["a-very-long-name-of-a-letter-to-the-miller-about-the-price-of-flour.txt"]);
    await store(
      owner,
      Array.from({ length: 51 }, (_, at) => `log ${String(at).padStart(2, "0")}.txt`),
    );
    await page.reload();
    await poll(() => rowsOf(page).count()).toBe(50);
    // What is deleted meanwhile leaves no gap.
    const first = await rowsOf(page).first().getByRole("link").textContent();
    await deleteOf(page, first ?? "").click();
    await poll(() => rowsOf(page).count()).toBe(49);
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await poll(() => namesOf(owner)).not.toContain(first);
    await page.getByRole("button", { name: "Show more" }).click();
    await poll(() => rowsOf(page).count()).toBe(50);
    await page.getByRole("button", { name: "Show more" }).click();
    await poll(() => rowsOf(page).count()).toBe(51);
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
    await expectNoAxeFindings(page);

    const search = page.getByRole("searchbox", { name: "Search files by name" });
    await write(search, "MILLER");
    await poll(() => rowsOf(page).count()).toBe(1);
    await write(search, "100%");
    await page.getByText("No file has this name.").waitFor();
  });
});
