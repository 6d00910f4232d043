import { expect, test } from "vitest";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { type ChatPages, startChatPages } from "../chat-pages.fixture.ts";

describeInterface("what chats and folders carry", ({ setUp, openPage }) => {
  let pages: ChatPages;

  setUp(async (keep) => {
    pages = await keep(startChatPages(openPage));
  });

  test("tags are added in the menu of a chat, shown beside its title, and taken off from the list", async () => {
    const { chatId } = await pages.admin.makeChat("Which stone?");
    const { page } = await pages.open(`/c/${chatId}`);
    await page.getByRole("button", { name: "Chat menu" }).click();
    await page.getByRole("menuitem", { name: "Tags", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Tags" });
    await write(dialog.getByLabel("New tag"), "Stone work");
    await dialog.getByLabel("New tag").press("Enter");
    await dialog.getByRole("button", { name: "Remove Stone work" }).waitFor();
    await expectNoAxeFindings(page);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Tags: Stone work" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Tags: Stone work" }).waitFor();

    await page.getByRole("button", { name: "Actions for “A chat”" }).click();
    await page.getByRole("menuitem", { name: "Tags", exact: true }).click();
    await dialog.getByRole("button", { name: "Remove Stone work" }).click();
    await dialog.getByText(/^No tags yet/).waitFor();
    expect((await pages.admin.read(chatId)).meta.tags ?? []).toEqual([]);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: /^Tags:/ }).waitFor({ state: "detached" });

    // A tag that is typed and not added is meant all the same.
    await page.getByRole("button", { name: "Chat menu" }).click();
    await page.getByRole("menuitem", { name: "Tags", exact: true }).click();
    await write(dialog.getByLabel("New tag"), "Typed");
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Tags: Typed" }).waitFor();
  });

  test("a folder has an icon that is picked and a model that its new chats begin with", async () => {
    const { page } = await pages.open("/");
    await page.getByRole("button", { name: "More about chats" }).click();
    await page.getByRole("menuitem", { name: "New folder" }).click();
    const dialog = page.getByRole("dialog", { name: "New folder" });
    await write(dialog.getByLabel("Name"), "Mill");
    await dialog.getByRole("button", { name: "Icon: none" }).click();
    await page.getByRole("button", { name: "🌊" }).click();
    await dialog.getByRole("button", { name: "Icon: 🌊" }).waitFor();
    await dialog.getByRole("button", { name: "Model: Default" }).click();
    await page.getByRole("button", { name: /^Millrace guide/ }).click();
    await dialog.getByRole("button", { name: "Model: Millrace guide" }).waitFor();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: "Actions for “Mill”" }).click();
    await page.getByRole("menuitem", { name: "New chat in this folder" }).click();
    await page.getByText("In the folder “Mill”").waitFor();
    await page.getByRole("button", { name: "Model: Millrace guide" }).waitFor();
  });

  test("a link is updated and copied with one button", async () => {
    const { chatId } = await pages.admin.makeChat("Is it shared?");
    const { page } = await pages.open(`/c/${chatId}`);
    await page.getByRole("button", { name: "Share", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Share chat" });
    await dialog.getByRole("button", { name: "Create link" }).click();
    await dialog
      .getByRole("status")
      .getByText(/^Link copied/)
      .waitFor({ state: "attached" });
    const address = await dialog.getByRole("textbox", { name: "Link" }).inputValue();
    expect(await dialog.getByRole("button", { name: /copy/i }).count()).toBe(1);
    await pages.admin.call(`POST /api/v1/chats/${chatId}`, { chat: { title: "Yes" } });
    await dialog.getByRole("button", { name: "Update and Copy Link" }).click();
    await dialog.getByText("Yes", { exact: true }).waitFor();
    expect(await dialog.getByRole("textbox", { name: "Link" }).inputValue()).toBe(address);
  });
});
