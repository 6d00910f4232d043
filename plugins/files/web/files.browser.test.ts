import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings, type OpenOptions } from "#test/support/interface.ts";

let app: App;
let owner: TestUser;
let other: TestUser;

describeInterface("the page of a file", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    app = await keep(startApp());
    owner = await app.user();
    other = await app.user();
  });

  async function upload(name: string, bytes: Uint8Array | string, type = ""): Promise<string> {
    const body = new FormData();
    body.append("file", new File([bytes as BlobPart], name, { type }));
    const route = "POST /api/v1/files/?process_in_background=false";
    return (await app.call(route, { token: owner.token, body })).body.id;
  }

  const sample = (name: string) => readFile(new URL(`../../extraction/fixtures/${name}`, import.meta.url));

  async function open(path: string, use: (page: Page) => Promise<void>, options: Partial<OpenOptions> = {}) {
    const { page } = await openPage({ url: app.url, token: owner.token, path, ...options });
    await use(page);
  }

  test("shows the text of a PDF by page beside the original, with the passage that the address names", async () => {
    const id = await upload("letter.pdf", await sample("letter.pdf"), "application/pdf");
    const { content } = (await app.call(`GET /api/v1/files/${id}`, { token: owner.token })).body.data;
    const start = content.indexOf("eleven tonnes");
    await open(`/files/${id}?start=${start}&end=${start + 13}`, async (page) => {
      const mark = page.locator("mark");
      await mark.waitFor();
      expect(await mark.textContent()).toBe("eleven tonnes");
      expect(await page.getByRole("heading", { level: 3 }).allTextContents()).toEqual([
        "Page 1",
        "Page 2",
        "Page 4",
      ]);
      const original = page.locator("iframe");
      expect(await original.getAttribute("src")).toBe(`/api/v1/files/${id}/content#page=2&navpanes=0`);
      await page.getByRole("button", { name: "Page 4" }).click();
      await expect
        .poll(() => original.getAttribute("src"))
        .toBe(`/api/v1/files/${id}/content#page=4&navpanes=0`);
      await expectNoAxeFindings(page);
    });
  });

  test("brings a passage of a long text into sight", async () => {
    const lines = Array.from({ length: 60_000 }, (_, at) => `Line ${at} of the log.`).join("\n");
    const id = await upload("log.txt", lines, "text/plain");
    const start = lines.indexOf("Line 15000");
    await open(`/files/${id}?start=${start}&end=${start + 10}`, async (page) => {
      await page.locator("mark").waitFor();
      await expect
        .poll(
          () =>
            page.locator("mark").evaluate((mark) => {
              const { top } = mark.getBoundingClientRect();
              return top > 0 && top < innerHeight;
            }),
          { timeout: 10_000 },
        )
        .toBe(true);
      await page.getByRole("button", { name: "Show more" }).waitFor();
      await page.getByRole("button", { name: "Show what stands before" }).waitFor();
      await page.getByRole("tab", { name: "Passages" }).click();
      const passages = page.getByRole("list", { name: "Passages" }).getByRole("listitem");
      await passages.first().getByText("Line 0 of the log.").waitFor();
      expect(await passages.count()).toBe(50);
      await page.getByRole("button", { name: "Show more" }).click();
      await expect.poll(() => passages.count()).toBe(100);
      await expectNoAxeFindings(page);
      await passages.last().getByRole("button", { name: "Show in text" }).click();
      await page.locator("mark").filter({ hasText: "of the log" }).first().waitFor();
    });
  });

  test("says why there is no text", async () => {
    const id = await upload("scanned.pdf", await sample("scanned.pdf"), "application/pdf");
    await open(
      `/files/${id}`,
      async (page) => {
        await page.getByRole("alert").filter({ hasText: "No text found in this PDF" }).waitFor();
        await page.getByRole("tab", { name: "Original" }).click();
        await page.locator("iframe").waitFor();
        await expectNoAxeFindings(page);
      },
      { size: "phone", theme: "dark" },
    );
  });

  test("offers what browsers do not show as a download, and nothing of what is not shared", async () => {
    const id = await upload("people.xlsx", await sample("people.xlsx"));
    await open(`/files/${id}`, async (page) => {
      await page.getByText("Name: Ada Lovelace; Born: 1985-12-10").waitFor();
      await page.getByText("Browsers do not show files of this kind.").waitFor();
    });
    await open(
      `/files/${id}`,
      async (page) => {
        await page.getByRole("alert").filter({ hasText: "The file could not be loaded." }).waitFor();
        expect(await page.getByText("Ada Lovelace").count()).toBe(0);
      },
      { token: other.token },
    );
  });
});
