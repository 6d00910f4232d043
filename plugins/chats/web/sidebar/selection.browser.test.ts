import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

/** Two busy cores may take longer than the default second. */
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 });

describeInterface("selected chats", ({ setUp, openPage }) => {
  let app: App;
  let token: string;

  setUp(async (keep) => {
    app = await keep(startApp());
    ({ token } = await app.admin());
  });

  const message = { id: "m1", parentId: null, childrenIds: [], role: "user", content: "Hello", timestamp: 1 };
  const toChat = (title: string, content: unknown = "Hello") => ({
    title,
    chat: { title, models: [], history: { currentId: "m1", messages: { m1: { ...message, content } } } },
  });
  const titles = async (list: string): Promise<string[]> =>
    (await app.call(`GET /api/v1/chats/${list}`, { token })).body
      .map(({ title }: { title: string }) => title)
      .toSorted();

  test("a file of chats is imported with progress and a report, and many chats are changed at once, with undo", async () => {
    const { page } = await openPage({ url: app.url, token });
    const chats = page.getByRole("region", { name: "Chats" });
    const link = (name: string) => chats.getByRole("link", { name });
    const undo = page.getByRole("button", { name: "Undo" });

    // The second part waits until the bar was seen halfway.
    let release: () => void = () => undefined;
    const seen = new Promise<void>((resolve) => (release = resolve));
    let parts = 0;
    await page.route("**/api/v1/chats/import", async (route) => {
      parts += 1;
      if (parts === 2) {
        await seen;
      }
      await route.continue();
    });
    const thread = { name: "Knots", chat_messages: [{ uuid: "a", sender: "human", text: "Which?" }] };
    const file = [
      ...Array.from({ length: 55 }, (_, index) => ({
        ...toChat(`Log ${String(index).padStart(2, "0")}`),
        updated_at: Math.floor(Date.now() / 1000) - index,
      })),
      { ...toChat("From the future"), created_at: -5 },
      { title: "Silence", mapping: {} },
      thread,
      7,
    ];
    await chats.getByLabel("File of chats").setInputFiles({
      name: "chats.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(file)),
    });
    await chats.getByText("52 of 59").waitFor();
    expect(
      await chats.getByRole("progressbar", { name: "Importing chats" }).getAttribute("aria-valuenow"),
    ).toBe("88");
    release();
    const report = page.getByRole("dialog", { name: "Import" });
    await report.getByText("56 chats were imported.").waitFor();
    const lines = await report.getByRole("listitem").allTextContents();
    expect(lines).toHaveLength(3);
    expect(lines.join("\n")).toMatch(
      /Silence.*This chat is empty[^]*Entry 59.*Not a chat[^]*future.*created_at/,
    );
    await expectNoAxeFindings(page, "[role=dialog]");
    await report.getByRole("button", { name: "Done" }).click();
    expect(await titles("all")).toHaveLength(56);
    await link("Log 00").waitFor();

    const choose = async () => {
      await chats.getByRole("button", { name: "More about chats" }).click();
      await page.getByRole("menuitem", { name: "Select several" }).click();
      await link("Log 00").click();
      await link("Log 02").click({ modifiers: ["Shift"] });
      await chats.getByText("3 chosen").waitFor();
    };
    const bar = chats.getByRole("toolbar", { name: "Chosen chats" });
    await choose();
    await bar.getByRole("button", { name: "Tag" }).click();
    await write(page.getByRole("textbox", { name: "Name of the tag" }), "Voyage");
    await expectNoAxeFindings(page);
    await page.keyboard.press("Enter");
    await page.getByText("Tagged “Voyage”.").waitFor();
    expect(await titles("search?text=tag:voyage")).toEqual(["Log 00", "Log 01", "Log 02"]);
    await undo.last().click();
    await poll(() => titles("search?text=tag:voyage")).toEqual([]);

    await choose();
    await bar.getByRole("button", { name: "Archive" }).click();
    await page.getByText("3 chats were archived.").waitFor();
    expect(await titles("archived")).toEqual(["Log 00", "Log 01", "Log 02"]);
    await undo.last().click();
    await poll(() => titles("archived")).toEqual([]);
    await link("Log 01").waitFor();

    await choose();
    await bar.getByRole("button", { name: "Move to folder" }).click();
    await page.getByRole("menuitem", { name: "New folder" }).click();
    await write(page.getByRole("textbox", { name: "Name" }), "Logs");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByText("Moved to “Logs”.").waitFor();
    expect(await titles("all")).toHaveLength(56);
    const inFolder = async () => {
      const [folder] = (await app.call("GET /api/v1/folders/", { token })).body;
      return await titles(`folder/${folder.id}`);
    };
    expect(await inFolder()).toEqual(["Log 00", "Log 01", "Log 02"]);
    await undo.last().click();
    await poll(inFolder).toEqual([]);
    await link("Log 00").waitFor();

    await choose();
    await bar.getByRole("button", { name: "Delete" }).click();
    await link("Log 00").waitFor({ state: "detached" });
    await undo.last().click();
    await link("Log 00").waitFor();
    await choose();
    await bar.getByRole("button", { name: "Delete" }).click();
    await page.getByText("3 chats were deleted.").waitFor();
    await page.getByRole("button", { name: "Close" }).last().click();
    await poll(async () => (await titles("all")).length).toBe(53);

    await chats.getByRole("button", { name: "More about chats" }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "Export all chats" }).click();
    expect((await saved).suggestedFilename()).toMatch(/^chats-.*\.json$/);
  });
});
