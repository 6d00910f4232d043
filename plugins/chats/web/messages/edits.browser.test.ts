import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { ask, type ChatPages, startChatPages } from "../chat-pages.fixture.ts";

describeInterface("edits of messages", ({ setUp, openPage }) => {
  let pages: ChatPages;

  setUp(async (keep) => {
    pages = await keep(startChatPages(openPage));
  });

  const own = (page: Page) => page.getByRole("article", { name: "You" });

  async function edit(page: Page, text: string): Promise<void> {
    await own(page).hover();
    await own(page).getByRole("button", { name: "Edit" }).click();
    await write(page.getByRole("textbox", { name: "Text of your message" }), text);
  }

  test("shows both texts of a message that two tabs change, and the state that the sidebar sets", async () => {
    const { page, context } = await pages.open("/");
    await ask(page, "How deep is the pond?");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    const tab = await context.newPage();
    await tab.goto(page.url());
    await own(tab).getByText("How deep is the pond?").waitFor();
    const id = new URL(page.url()).pathname.slice(3);
    const stored = async () =>
      Object.values<{ role: string; content: string }>(
        (await pages.admin.read(id)).chat.history.messages,
      ).find(({ role }) => role === "user")?.content;

    await edit(tab, "How cold is the pond?");
    await edit(page, "How wide is the pond?");
    await page.getByRole("button", { name: "Save only" }).click();
    await own(page).getByText("How wide is the pond?").waitFor();
    await tab.getByRole("button", { name: "Save only" }).click();
    const dialog = tab.getByRole("dialog", { name: "This message was changed elsewhere" });
    await dialog.getByText("How cold is the pond?").waitFor();
    await dialog.getByText("How wide is the pond?").waitFor();
    await expectNoAxeFindings(tab);
    expect(await stored()).toBe("How wide is the pond?");
    await dialog.getByRole("button", { name: "Keep your text" }).click();
    await dialog.waitFor({ state: "detached" });
    await own(tab).getByText("How cold is the pond?").waitFor();
    expect(await stored()).toBe("How cold is the pond?");

    // The other tab is the later one now, and gives in.
    await edit(page, "How warm is the pond?");
    await page.getByRole("button", { name: "Save only" }).click();
    const other = page.getByRole("dialog", { name: "This message was changed elsewhere" });
    await other.getByText("How cold is the pond?").waitFor();
    await page.keyboard.press("Escape");
    await own(page).getByText("How cold is the pond?").waitFor();
    await page.getByRole("button", { name: "Copy your text" }).waitFor();
    expect(await stored()).toBe("How cold is the pond?");

    // A request that arrives twice pins once.
    await page.route("**/pin", async (route) => {
      await pages.admin.call(`POST /api/v1/chats/${id}/pin`, route.request().postDataJSON());
      await route.continue();
    });
    await page.getByRole("link", { name: "How deep is the pond?" }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Pin" }).click();
    await expect.poll(async () => (await pages.admin.read(id)).pinned).toBe(true);
    await page.getByRole("button", { name: "Chat menu" }).click();
    await page.getByRole("menuitem", { name: "Unpin" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "How deep is the pond?" }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Archive" }).click();
    await page.getByText("was archived.").waitFor();
    await page.waitForURL(/\/$/);
    await page.goBack();
    await page.getByRole("button", { name: "Chat menu" }).click();
    await page.getByRole("menuitem", { name: "Restore from archive" }).click();
    await expect.poll(async () => (await pages.admin.read(id)).archived).toBe(false);
  });
});
