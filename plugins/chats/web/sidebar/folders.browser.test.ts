import { expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

/** Two busy cores may take longer than the default second. */
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 });

describeInterface("folders of chats", ({ setUp, openPage }) => {
  let app: App;
  let ada: TestUser;

  setUp(async (keep) => {
    app = await keep(startApp());
    ada = await app.admin();
  });

  async function call(route: string, options: { token: string; body?: unknown }) {
    const { status, body } = await app.call(route, options);
    expect(status, route).toBe(200);
    return body;
  }

  const makeFolder = async ({ token }: TestUser, name: string): Promise<string> =>
    (await call("POST /api/v1/folders/", { token, body: { name } })).id;

  async function makeChat({ token }: TestUser, title: string, folder_id: string | null): Promise<string> {
    const message = {
      id: "m1",
      parentId: null,
      childrenIds: [],
      role: "user",
      content: "Hello",
      timestamp: 1,
    };
    const chat = { title, models: [], history: { currentId: "m1", messages: { m1: message } } };
    return (await call("POST /api/v1/chats/new", { token, body: { chat, folder_id } })).id;
  }

  test("folders are dragged into each other, out again, and into an order, with undo", async () => {
    const { token } = ada;
    for (const name of ["Alps", "Baltic", "Crete"]) {
      await makeFolder(ada, name);
    }
    const { page } = await openPage({ url: app.url, token });
    const chats = page.getByRole("region", { name: "Chats" });
    const folder = (name: string) => chats.getByRole("button", { name, exact: true });
    const names = async () =>
      await chats
        .locator("[data-row^='folder:']")
        .evaluateAll((rows) => rows.map((row) => row.textContent?.trim()));
    const parents = async () => {
      const list: { id: string; name: string; parent_id: string | null }[] = await call(
        "GET /api/v1/folders/",
        { token },
      );
      return Object.fromEntries(
        list.map(({ name, parent_id }) => [name, list.find(({ id }) => id === parent_id)?.name ?? null]),
      );
    };
    await folder("Crete").waitFor();
    expect(await names()).toEqual(["Alps", "Baltic", "Crete"]);

    await folder("Crete").dragTo(folder("Alps"), { targetPosition: { x: 60, y: 2 } });
    await page.getByText("“Crete” was moved.").waitFor();
    expect(await names()).toEqual(["Crete", "Alps", "Baltic"]);
    await folder("Alps").dragTo(folder("Baltic"), { targetPosition: { x: 60, y: 31 } });
    await poll(names).toEqual(["Crete", "Baltic", "Alps"]);
    const orders = async (): Promise<unknown> =>
      (await call("GET /api/v1/folders/", { token })).map(
        ({ name, meta }: { name: string; meta: { order?: number } }) => [name, meta.order],
      );
    await poll(orders).toEqual([
      ["Alps", 2],
      ["Baltic", 1],
      ["Crete", 0],
    ]);
    await page.reload();
    await folder("Alps").waitFor();
    expect(await names()).toEqual(["Crete", "Baltic", "Alps"]);

    await folder("Alps").dragTo(folder("Crete"));
    await page.getByText("“Alps” was moved into “Crete”.").waitFor();
    await poll(parents).toMatchObject({ Alps: "Crete", Baltic: null });
    await page.getByRole("button", { name: "Undo" }).last().click();
    await poll(parents).toMatchObject({ Alps: null });
    await folder("Alps").dragTo(folder("Crete"));
    await folder("Crete").press("ArrowRight");
    await folder("Crete").dragTo(folder("Alps"));
    expect(await parents()).toMatchObject({ Crete: null, Alps: "Crete" });

    // While something that lies in a folder is dragged, there is a place that takes it out.
    await folder("Alps").hover();
    await page.mouse.down();
    await folder("Baltic").hover();
    const exit = chats.getByText("Drop here to take it out of the folder");
    await exit.waitFor();
    await exit.hover();
    await exit.hover();
    await page.mouse.up();
    await page.getByText("“Alps” was moved out of its folder.").waitFor();
    await poll(parents).toMatchObject({ Alps: null });
    await exit.waitFor({ state: "detached" });

    await chats.getByRole("button", { name: "Actions for “Crete”" }).click();
    await page.getByRole("menuitem", { name: "Move down" }).click();
    await poll(names).toEqual(["Baltic", "Crete", "Alps"]);
    await expectNoAxeFindings(page);
  });

  test("a folder is shared by its owner and stands with its chats in a place of its own for others", async () => {
    const reader = await app.user();
    const id = await makeFolder(ada, "Expedition");
    const chatId = await makeChat(ada, "Ice and wind", id);
    const { page } = await openPage({ url: app.url, token: ada.token });
    await page.getByRole("button", { name: "Expedition", exact: true }).waitFor();
    await page.getByRole("button", { name: "Actions for “Expedition”" }).click();
    await page.getByRole("menuitem", { name: "Share" }).click();
    const dialog = page.getByRole("dialog", { name: "Share folder" });
    await write(dialog.getByRole("combobox", { name: "Add people and groups" }), reader.name);
    await dialog.getByRole("option", { name: reader.name }).click();
    await dialog.getByText("Saved").last().waitFor();
    await expectNoAxeFindings(page, "[role=dialog]");

    const theirs = await openPage({ url: app.url, token: reader.token });
    const chats = theirs.page.getByRole("region", { name: "Chats" });
    await chats.getByRole("heading", { name: "Shared with me" }).waitFor();
    const folder = chats.getByRole("button", { name: /^Expedition shared by/ });
    await folder.press("ArrowRight");
    const link = chats.getByRole("link", { name: "Ice and wind" });
    await link.waitFor();
    await chats.getByRole("button", { name: "Actions for “Expedition”" }).click();
    await theirs.page.getByRole("menuitem", { name: "Temporary chat with its instructions" }).waitFor();
    expect(await theirs.page.getByRole("menuitem").count()).toBe(1);
    await theirs.page.getByRole("menuitem", { name: "Temporary chat with its instructions" }).click();
    await theirs.page.getByText("With the instructions of “Expedition”").waitFor();
    const sent = theirs.page.waitForRequest("**/api/chat/completions");
    await write(theirs.page.getByRole("textbox", { name: "Message" }), "Pack my bag");
    await theirs.page.keyboard.press("Enter");
    expect((await sent).postDataJSON()).toMatchObject({ folder_id: id });
    expect((await (await sent).response())?.status()).toBe(200);
    await link.focus();
    await theirs.page.keyboard.press("Delete");
    await theirs.page.keyboard.press("F2");
    await link.click();
    await theirs.page.waitForURL(`**/c/${chatId}`);
    await theirs.page.getByText("Hello").waitFor();
    await theirs.page.getByText("This chat belongs to another person.").waitFor();
    expect(await theirs.page.getByRole("textbox").count()).toBe(0);
    await expectNoAxeFindings(theirs.page);

    await dialog.getByText("May read").click();
    await page.getByRole("option", { name: "May change" }).click();
    await dialog.getByText("Saved").last().waitFor();
    await theirs.page.reload();
    await chats.getByRole("button", { name: "Actions for “Expedition”" }).click();
    await theirs.page.getByRole("menuitem", { name: "Name, icon and instructions" }).click();
    await write(theirs.page.getByRole("textbox", { name: "Name" }), "Journey");
    await theirs.page.getByRole("button", { name: "Save", exact: true }).click();
    await chats.getByRole("button", { name: /^Journey shared by/ }).waitFor();
    await theirs.close();

    await dialog.getByRole("button", { name: `Take ${reader.name} off` }).click();
    await poll(async () => await call("GET /api/v1/folders/shared", { token: reader.token })).toEqual([]);
  });
});
