import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { grant, permit } from "#plugins/folders/folders.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { pick, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { type NoteClient, noteClient } from "../notes.fixture.ts";

describeInterface("notes", ({ setUp, openPage }) => {
  let app: App;
  let ann: NoteClient;
  let ben: TestUser;

  setUp(async (keep) => {
    app = await keep(startApp());
    ann = noteClient(await app.user());
    ben = await app.user();
    await permit(app, [ann.user], { access_grants: { allow_users: true } });
  });

  const open = (user: TestUser, path: string, more: object = {}) =>
    openPage({ url: app.url, path, token: user.token, ...more });
  const textOf = (page: Page) => page.getByRole("textbox", { name: "Text of the note", exact: true });

  test("a note is begun, formatted by keyboard, seen as Markdown, and found in the list", async () => {
    const { page } = await open(ann.user, "/notes");
    await page.getByText("Nothing here yet.").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "New note" }).click();
    await page.waitForURL(/\/notes\/[0-9a-f-]{36}$/);
    const id = page.url().split("/").at(-1) as string;
    await write(page.getByLabel("Title"), "Mill");
    await page.getByLabel("Title").press("Enter");
    const text = textOf(page);
    await text.click();
    await page.keyboard.type("# Plan");
    await page.keyboard.press("Enter");
    await page.keyboard.type("- [ ] dig");
    await page.keyboard.press("Enter");
    await page.keyboard.type("build ");
    await page.keyboard.press("Control+b");
    await page.keyboard.type("well");
    await page.getByText("Saved", { exact: true }).waitFor();
    await expect.poll(() => ann.read(id)).toBe("# Plan\n\n* [ ] dig\n* [ ] build **well**");
    expect(await page.getByRole("button", { name: "Bold" }).getAttribute("aria-pressed")).toBe("true");
    // The keyboard ticks a task.
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => ann.read(id)).toContain("* [x] build");
    await expectNoAxeFindings(page);

    await pick(page.getByRole("radio", { name: "Markdown" }));
    const source = page.getByLabel("Text of the note, as Markdown");
    expect(await source.inputValue()).toContain("* [ ] dig");
    await write(source, "Only *this*");
    await expect.poll(() => ann.read(id)).toBe("Only *this*");
    await pick(page.getByRole("radio", { name: "Text", exact: true }));
    await text.locator("em", { hasText: "this" }).waitFor();

    await page.getByRole("button", { name: "All notes" }).click();
    await write(page.getByLabel("Search in notes"), "only");
    await page.getByRole("link", { name: "Mill" }).first().waitFor();
  });

  test("two people write one note, see each other, and a reader only reads", async () => {
    const note = await ann.make("Together", "start", { access_grants: [grant(ben.id, "write")] });
    const [one, two] = [await open(ann.user, `/notes/${note.id}`), await open(ben, `/notes/${note.id}`)];
    await one.page.getByRole("list", { name: "Who else is here" }).getByRole("listitem").waitFor();
    const write = async (page: Page, word: string) => {
      await textOf(page).click();
      await page.keyboard.press(word === "left" ? "Control+Home" : "Control+End");
      await page.keyboard.press("Enter");
      await page.keyboard.type(`${word} `.repeat(20));
    };
    await Promise.all([write(one.page, "left"), write(two.page, "right")]);
    const count = async (page: Page, word: string) => (await textOf(page).innerText()).split(word).length - 1;
    for (const { page } of [one, two]) {
      await expect.poll(() => count(page, "left"), { timeout: 30_000 }).toBe(20);
      await expect.poll(() => count(page, "right"), { timeout: 30_000 }).toBe(20);
    }
    await one.page.locator(".note-caret-name", { hasText: ben.name }).waitFor({ state: "attached" });

    await ann.call(`POST /${note.id}/access/update`, { access_grants: [grant(ben.id)] });
    await two.page.getByText("Read only", { exact: true }).waitFor();
    // The keys go on into the text, which can be copied and saved.
    await two.page.keyboard.press("Control+End");
    await two.page.keyboard.type(" kept words");
    expect(await textOf(two.page).innerText()).toContain("kept words");
    await ann.call(`POST /${note.id}/access/update`, { access_grants: [] });
    await two.page.getByText("not shared with you any more").waitFor();
    expect(await textOf(one.page).innerText()).not.toContain("kept words");
    await two.page.getByRole("button", { name: "Copy text" }).waitFor();
    await two.page.getByRole("button", { name: "Save as my note" }).click();
    await two.page.waitForURL((url) => url.pathname.startsWith("/notes/") && !url.pathname.endsWith(note.id));
    await textOf(two.page).getByText("kept words").waitFor();
    await two.page.getByText("Saved", { exact: true }).waitFor();
    await Promise.all([one.close(), two.close()]);
  });

  test("history shows what changed and brings a text back, on a phone too; what others wrote runs nothing", async () => {
    const evil = "[x](javascript:alert(1)) <img src=x onerror=alert(1)>";
    const note = await ann.make("History", `one\n\n${evil}`);
    await ann.call(`POST /${note.id}/update`, { data: { content: { md: `two\n\n${evil}` } } });
    const { page } = await open(ann.user, `/notes/${note.id}`, { size: "phone" });
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await textOf(page).getByText("two").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "History" }).click();
    await page
      .getByRole("button", { name: /character/ })
      .last()
      .click();
    await page.getByRole("region", { name: "Difference" }).getByText("-one").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Restore this text" }).click();
    await expect.poll(() => ann.read(note.id)).toContain("one");
    expect(dialogs).toBe(0);
    expect(await textOf(page).locator("img, a[href^='javascript']").count()).toBe(0);
  });
});
