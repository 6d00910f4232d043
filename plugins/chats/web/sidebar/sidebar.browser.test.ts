import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

describeInterface("the sidebar", ({ setUp, openPage }) => {
  let app: App;
  let token: string;

  setUp(async (keep) => {
    app = await keep(startApp());
    ({ token } = await app.admin());
  });

  async function make(title: string, content: string): Promise<string> {
    const message = { id: "m1", parentId: null, childrenIds: [], role: "user", content, timestamp: 1 };
    const chat = { title, models: [], history: { currentId: "m1", messages: { m1: message } } };
    const { status, body } = await app.call("POST /api/v1/chats/new", { token, body: { chat } });
    expect(status).toBe(200);
    return body.id;
  }

  const read = async (id: string) => await app.call(`GET /api/v1/chats/${id}`, { token });

  async function folderNames(): Promise<string[]> {
    const { body } = await app.call("GET /api/v1/folders/", { token });
    return body.map(({ name }: { name: string }) => name);
  }

  test("chats are found, renamed, pinned, put into folders and deleted, with undo", async () => {
    const boats = await make("Boats", "Sails and oars.");
    const rivers = await make("Rivers", "Where salmon leap upstream.");
    const { page } = await openPage({ url: app.url, token, path: `/c/${boats}` });
    const chats = page.getByRole("region", { name: "Chats" });
    let settingsRead = 0;
    page.on("request", (request) => void (settingsRead += request.url().endsWith("/user/settings") ? 1 : 0));
    const link = (name: string) => chats.getByRole("link", { name });
    const choose = async (title: string, ...items: string[]) => {
      await chats.getByRole("button", { name: `Actions for “${title}”` }).click();
      for (const name of items) {
        await page.getByRole("menuitem", { name }).click();
      }
    };
    await link("Boats").waitFor();
    expect(await link("Boats").getAttribute("aria-current")).toBe("page");
    await expectNoAxeFindings(page);

    await link("Rivers").hover();
    await choose("Rivers", "Rename");
    await write(page.getByRole("textbox", { name: "Title of the chat" }), "Streams");
    await page.keyboard.press("Enter");
    await link("Streams").waitFor();
    await expect.poll(async () => (await read(rivers)).body.title).toBe("Streams");

    await choose("Streams", "Pin");
    await chats.getByRole("heading", { name: "Pinned" }).waitFor();
    await expect.poll(async () => (await read(rivers)).body.pinned).toBe(true);

    await choose("Boats", "Move to folder", "New folder");
    await write(page.getByRole("textbox", { name: "Name" }), "Water");
    await expectNoAxeFindings(page, "[role=dialog]");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByText("Moved to “Water”.").waitFor();
    const folder = chats.getByRole("button", { name: "Water", exact: true });
    await folder.click();
    await link("Boats").waitFor();
    await folder.press("ArrowLeft");
    await link("Boats").waitFor({ state: "detached" });

    const field = chats.getByRole("searchbox", { name: "Search chats" });
    await write(field, "salmon");
    await chats.locator("mark", { hasText: "salmon" }).waitFor();
    await link("Streams").click();
    const find = page.getByRole("textbox", { name: "Find in this chat" });
    await page.getByText("1 of 1").waitFor();
    expect(await find.inputValue()).toBe("salmon");
    expect(new URL(page.url()).search).toBe("");
    await page.goBack();
    await page.waitForURL(`**/c/${boats}`);
    await find.waitFor({ state: "detached" });
    await field.press("Escape");
    await folder.focus();
    await folder.press("F2");
    await write(page.getByRole("textbox", { name: "Name of the folder" }), "Waters");
    await page.keyboard.press("Enter");
    await expect.poll(folderNames).toEqual(["Waters"]);

    await choose("Streams", "Delete");
    await link("Streams").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).last().click();
    await link("Streams").waitFor();
    expect((await read(rivers)).status).toBe(200);

    await make("Lakes", "Still water.");
    await make("Ponds", "Frogs.");
    await page.reload();
    await link("Lakes").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Archive" }).click();
    await link("Lakes").waitFor({ state: "detached" });

    await app.call(`POST /api/v1/chats/${rivers}/unread`, { token });
    await chats.getByText("unread").waitFor();
    // The list moves while it is told of the other chats: a click may meet the line that stood there.
    await expect
      .poll(async () => {
        await link("Streams").click();
        return Number((await read(rivers)).body.last_read_at);
      })
      .toBeGreaterThan(0);

    await chats.getByRole("button", { name: "Waters", exact: true }).click();
    await link("Boats").dragTo(chats.getByRole("heading", { name: "Today" }));
    await page.getByText("Moved out of the folder.").waitFor();
    await link("Boats").dragTo(chats.getByRole("button", { name: "Waters", exact: true }));
    await page.getByText("Moved to “Waters”.").waitFor();
    await expect.poll(async () => (await read(boats)).body.folder_id).not.toBeNull();

    await chats.getByRole("button", { name: "Actions for “Waters”" }).click();
    await page.getByRole("menuitem", { name: "New chat in this folder" }).click();
    await page.waitForURL(/[?]folder=/);
    expect(settingsRead).toBeLessThan(5);
  });

  test("a phone shows the chats in a drawer", async () => {
    const { page } = await openPage({ url: app.url, token, size: "phone", theme: "dark" });
    await page.getByRole("button", { name: "Open the sidebar" }).click();
    await expectNoAxeFindings(page);
    await page.getByRole("link", { name: "Ponds" }).click();
    await page.waitForURL(/\/c\//);
    await page.getByRole("button", { name: "Open the sidebar" }).waitFor();
  });
});
