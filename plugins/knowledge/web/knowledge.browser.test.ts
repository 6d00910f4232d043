import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { curator, type KnowledgeClient } from "../knowledge.fixture.ts";

const count = 60;
describeInterface("collections", ({ setUp, openPage }) => {
  let app: App;
  let me: KnowledgeClient;
  let folder: string;

  setUp(async (keep) => {
    app = await keep(startApp());
    me = await curator(app);
    const place = await mkdtemp(join(tmpdir(), "drop-"));
    await keep({ close: () => rm(place, { recursive: true, force: true }) });
    folder = join(place, "handbook");
    await mkdir(join(folder, "deep"), { recursive: true });
    for (let at = 0; at < count; at += 1) {
      const place = at % 2 === 0 ? folder : join(folder, "deep");
      await writeFile(join(place, `note ${at}.txt`), at === 7 ? "" : `The text of note ${at}.`);
    }
  });

  /** Drops a file or folder of this machine as a person does; the page gets it as the browser reads it. */
  async function dropOnto(page: Page, path: string): Promise<void> {
    const session = await page.context().newCDPSession(page);
    const data = { items: [], files: [path], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"] as const) {
      await session.send("Input.dispatchDragEvent", { type, x: 600, y: 400, data });
    }
  }

  test("a folder of 60 files becomes a collection with its directories, and what failed says why", async () => {
    const { page } = await openPage({
      url: app.url,
      path: "/workspace/knowledge",
      token: me.user.token,
    });
    await page.getByText("No collection yet").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "New collection" }).click();
    await write(page.getByLabel("Name", { exact: true }), "Handbook");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("heading", { name: "Handbook" }).waitFor();
    await page.getByText("Drop files or whole folders here.").waitFor();
    await dropOnto(page, folder);
    await page.getByRole("progressbar").first().waitFor();
    await page.getByText(`${count} files · 1 failed`).waitFor({ timeout: 180_000 });

    await page.getByRole("button", { name: /^handbook/ }).click();
    await page.getByRole("button", { name: /^deep/ }).click();
    await page.getByRole("navigation", { name: "Path" }).getByText("deep").waitFor();
    await write(page.getByRole("searchbox", { name: "Search by name" }), "note 7.txt");
    await page.getByText("The file is empty.").waitFor();
    await expectNoAxeFindings(page);

    await write(page.getByRole("searchbox", { name: "Search by name" }), "note 58.txt");
    await page.getByRole("button", { name: "Actions for note 58.txt" }).click();
    await page.getByRole("menuitem", { name: "Take out" }).click();
    await page.getByText("“note 58.txt” is taken out.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "note 58.txt" }).waitFor();
    const { items } = (await me.call("GET /search?query=Handbook")).body;
    expect(items[0]).toMatchObject({ file_count: count, error_count: 1, processing_count: 0 });

    await page.getByRole("button", { name: "Actions for note 58.txt" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await write(page.getByLabel("Name", { exact: true }), "note 58 a.txt");
    await page.getByRole("button", { name: "Save" }).click();
    await write(page.getByRole("searchbox", { name: "Search by name" }), "note 58");
    await page.getByRole("link", { name: "note 58 a.txt" }).waitFor();

    await write(page.getByRole("searchbox", { name: "Search by name" }), "");
    await page
      .getByRole("navigation", { name: "Path" })
      .getByRole("button", { name: "Handbook", exact: true })
      .click();
    await page.getByRole("button", { name: "Actions for handbook" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await write(page.getByLabel("Name", { exact: true }), "rules");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: /^rules/ }).waitFor();
  });

  test("a directory is matched with a folder: what is new comes, what changed is replaced, what is gone goes", async () => {
    const small = join(folder, "..", "small");
    await mkdir(join(small, "old"), { recursive: true });
    await mkdir(join(small, "same"));
    await writeFile(join(small, "a.txt"), "first text");
    await writeFile(join(small, "old", "gone.txt"), "goes away");
    await writeFile(join(small, "same", "stays.txt"), "stays");
    const { id } = (await me.call("POST /create", { name: "Small", description: "" })).body;
    const path = `/workspace/knowledge/${id}`;
    const { page } = await openPage({ url: app.url, path, token: me.user.token });
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
  });
});
