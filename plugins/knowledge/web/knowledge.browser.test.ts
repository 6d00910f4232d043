import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";
import { curator, type KnowledgeClient } from "../knowledge.fixture.ts";

const slow = 400_000;
const count = 200;
let app: App;
let browser: Browser;
let me: KnowledgeClient;
let folder: string;

beforeAll(async () => {
  if (chromiumPath) {
    await buildInterface();
    app = await startApp();
    browser = await openBrowser();
    me = await curator(app);
    folder = join(await mkdtemp(join(tmpdir(), "drop-")), "handbook");
    await mkdir(join(folder, "deep"), { recursive: true });
    for (let at = 0; at < count; at += 1) {
      const place = at % 2 === 0 ? folder : join(folder, "deep");
      await writeFile(join(place, `note ${at}.txt`), at === 7 ? "" : `The text of note ${at}.`);
    }
  }
}, slow);

afterAll(async () => {
  await browser?.close();
  await app?.close();
  await rm(join(folder ?? "/none", ".."), { recursive: true, force: true });
});

/** Drops a file or folder of this machine as a person does; the page gets it as the browser reads it. */
async function dropOnto(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await session.send("Input.dispatchDragEvent", { type, x: 600, y: 400, data });
  }
}

test.skipIf(!chromiumPath)(
  "a folder of 200 files becomes a collection with its directories, and what failed says why",
  async () => {
    const { page, close } = await openPage(browser, {
      url: app.url,
      path: "/workspace/knowledge",
      token: me.user.token,
    });
    await page.getByText("No collection yet").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "New collection" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Handbook");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("heading", { name: "Handbook" }).waitFor();
    await page.getByText("Drop files or whole folders here.").waitFor();
    await dropOnto(page, folder);
    await page.getByRole("progressbar").first().waitFor();
    await page.getByText(`${count} files · 1 failed`).waitFor({ timeout: 180_000 });

    await page.getByRole("button", { name: /^handbook/ }).click();
    await page.getByRole("button", { name: /^deep/ }).click();
    await page.getByRole("navigation", { name: "Path" }).getByText("deep").waitFor();
    await page.getByRole("searchbox", { name: "Search by name" }).fill("note 7.txt");
    await page.getByText("The file is empty.").waitFor();
    await expectNoAxeFindings(page);

    await page.getByRole("searchbox", { name: "Search by name" }).fill("note 198.txt");
    await page.getByRole("button", { name: "Actions for note 198.txt" }).click();
    await page.getByRole("menuitem", { name: "Take out" }).click();
    await page.getByText("“note 198.txt” is taken out.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "note 198.txt" }).waitFor();
    const { items } = (await me.call("GET /search?query=Handbook")).body;
    expect(items[0]).toMatchObject({ file_count: count, error_count: 1, processing_count: 0 });

    await page.getByRole("button", { name: "Actions for note 198.txt" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Name", { exact: true }).fill("note 198 a.txt");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("searchbox", { name: "Search by name" }).fill("note 198");
    await page.getByRole("link", { name: "note 198 a.txt" }).waitFor();

    await page.getByRole("searchbox", { name: "Search by name" }).fill("");
    await page
      .getByRole("navigation", { name: "Path" })
      .getByRole("button", { name: "Handbook", exact: true })
      .click();
    await page.getByRole("button", { name: "Actions for handbook" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Name", { exact: true }).fill("rules");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: /^rules/ }).waitFor();
    await close();
  },
  slow,
);

test.skipIf(!chromiumPath)(
  "a directory is matched with a folder: what is new comes, what changed is replaced, what is gone goes",
  async () => {
    const small = join(folder, "..", "small");
    await mkdir(join(small, "old"), { recursive: true });
    await mkdir(join(small, "same"));
    await writeFile(join(small, "a.txt"), "first text");
    await writeFile(join(small, "old", "gone.txt"), "goes away");
    await writeFile(join(small, "same", "stays.txt"), "stays");
    const { id } = (await me.call("POST /create", { name: "Small", description: "" })).body;
    const path = `/workspace/knowledge/${id}`;
    const { page, close } = await openPage(browser, { url: app.url, path, token: me.user.token });
    await page.getByText("Drop files or whole folders here.").waitFor();
    await page.getByLabel("Folder to add").setInputFiles(small);
    await page.getByText("3 files", { exact: false }).first().waitFor();
    await expect.poll(async () => (await me.call(`GET /${id}`)).body.processing_count).toBe(0);

    await rm(join(small, "old"), { recursive: true });
    await writeFile(join(small, "a.txt"), "second text");
    await writeFile(join(small, "b.txt"), "new text");
    await page.getByRole("button", { name: /^small/ }).waitFor();
    await page.getByLabel("Folder to match").setInputFiles(small);
    const dialog = page.getByRole("dialog", { name: "Match a folder" });
    await dialog.getByText("1 new file is added").waitFor();
    await dialog.getByText("1 changed file is replaced").waitFor();
    await dialog.getByText("1 file that the folder does not have is taken out").waitFor();
    await dialog.getByText("1 empty directory goes").waitFor();
    await dialog.getByText("1 file stays as it is.").waitFor();
    await expectNoAxeFindings(page);
    await dialog.getByRole("button", { name: "Match it" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect
      .poll(async () => (await me.call(`GET /${id}/files?query=.txt`)).body.items)
      .toMatchObject([
        { filename: "a.txt", status: "processed" },
        { filename: "b.txt", status: "processed" },
        { filename: "stays.txt", status: "processed" },
      ]);
    await page.getByLabel("Folder to match").setInputFiles(small);
    await dialog.getByText("Nothing to do: 3 files are the same.").waitFor();
    await close();
  },
  slow,
);
