// Takes long: texts of a million characters are pasted into real fields.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { pasteFromClipboard, type, write } from "#test/support/hands.ts";

describeInterface("a text that is too long", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha"] }));
    ({ token } = await world.app.admin());
  });

  const megabyte = "A line that somebody pastes here, of fifty letters.\n".repeat(20_000);
  const waves = "🌊".repeat(300);
  const fitting = "🌊".repeat(200);
  const open = async (path: string) => (await openPage({ url: world.app.url, token, path })).page;
  const told = (page: Page, text: string) => page.getByText(text).first().waitFor();

  async function replace(page: Page, text: string): Promise<void> {
    await page.keyboard.press("ControlOrMeta+a");
    await pasteFromClipboard(page, text);
  }

  test("is kept in the field, with the limit and the count beside it", async () => {
    const page = await open("/settings/account");
    const name = page.getByRole("textbox", { name: "Name", exact: true });
    await name.click();
    await replace(page, waves);
    await told(page, "Must be at most 200 characters; this has 300.");
    expect(await name.inputValue()).toBe(waves);
    await page.keyboard.press("Enter");
    await replace(page, fitting);
    await name.and(page.locator(":not([aria-invalid])")).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Saved", { exact: true }).first().waitFor();
    await page.reload();
    await expect.poll(() => name.inputValue()).toBe(fitting);
    await page.getByRole("button", { name: `Account: ${fitting}` }).waitFor();
  });

  test("is refused whole at a field that has no room for words", async () => {
    const page = await open("/notes");
    await page.getByRole("button", { name: "New note" }).click();
    const title = page.getByRole("textbox", { name: "Title" });
    await write(title, "Mill");
    await pasteFromClipboard(page, waves + waves);
    expect(await title.inputValue()).toBe("Mill");
    expect(await title.evaluate((field) => (field as HTMLInputElement).validationMessage)).toBe(
      "Must be at most 500 characters; this has 604.",
    );
    await pasteFromClipboard(page, waves);
    expect(await title.inputValue()).toBe(`Mill${waves}`);
    expect(await title.evaluate((field) => (field as HTMLInputElement).validationMessage)).toBe("");
  });

  test("is a message whose draft survives a reload", async () => {
    const page = await open("/");
    const message = page.getByRole("textbox", { name: "Message" });
    await message.click();
    await pasteFromClipboard(page, megabyte);
    await expect.poll(() => message.inputValue()).toBe(megabyte);
    await page.reload();
    await expect.poll(() => message.inputValue(), { timeout: 60_000 }).toBe(megabyte);
  });

  test("stays in a prompt until it is made shorter", async () => {
    const page = await open("/workspace/new-prompt");
    await type(page.getByRole("textbox", { name: "Name" }), "Long");
    const text = page.getByRole("textbox", { name: "Text", exact: true });
    await text.click();
    await pasteFromClipboard(page, megabyte);
    const limit = "Must be at most 200,000 characters; this has 1,040,000.";
    await told(page, limit);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await told(page, "content: Must be at most 200,000 characters; this has 1,040,000");
    await page.reload();
    await told(page, limit);
    await text.click();
    await replace(page, megabyte.slice(0, 199_999));
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForURL(/\/workspace\/prompt\//);
    await page.reload();
    await expect.poll(() => text.inputValue()).toBe(megabyte.slice(0, 199_999));
  });

  test("is kept out of a note, which takes what fits in one piece", async () => {
    const page = await open("/notes");
    await page.getByRole("button", { name: "New note" }).click();
    const text = page.getByRole("textbox", { name: "Text of the note", exact: true });
    await text.click();
    await pasteFromClipboard(page, megabyte);
    await told(page, "Must be at most 500,000 characters; this has");
    expect(await text.innerText()).not.toContain("somebody");
    // Three bytes a sign: more than a frame of the socket takes.
    const river = "河".repeat(400_000);
    await pasteFromClipboard(page, river);
    await page.getByText("Saved", { exact: true }).waitFor();
    await page.reload();
    await expect.poll(async () => (await text.innerText()).length).toBeGreaterThanOrEqual(river.length);
    await text.press("ControlOrMeta+End");
    await page.keyboard.type("!");
    await page.getByText("Saved", { exact: true }).waitFor();
  });

  test("is told at the code of a function", async () => {
    const page = await open("/workspace/new-function");
    await page.getByRole("textbox", { name: "Code of the function" }).click();
    await replace(page, megabyte);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await told(page, "content: Must be at most 524,288 characters; this has 1,040,000");
    await replaceCode(page);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForURL(/\/workspace\/function\//);
  });

  async function replaceCode(page: Page): Promise<void> {
    await page.getByRole("textbox", { name: "Code of the function" }).click();
    await replace(page, 'export default { type: "filter", inlet: (body) => body };\n');
  }
});
