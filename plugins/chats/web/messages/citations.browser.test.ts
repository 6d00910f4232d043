import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";
import { text } from "#test/support/upstream-scripts.ts";

// From a dropped file to the passage that a reply cites, and what others see of it.

const slow = 240_000;
let world: AppWithUpstream;
let browser: Browser;
let token: string;

beforeAll(async () => {
  if (chromiumPath) {
    await buildInterface();
    world = await startAppWithUpstream({ models: ["alpha"] });
    world.upstream.always("/chat/completions", text("The sluice gate is Ada Marten's [1]."));
    browser = await openBrowser();
    ({ token } = await world.app.admin());
  }
}, slow);
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

const sentence = "The sluice gate belongs to Ada Marten.";
const deed = `The deed of the mill.\n\n${sentence}\n\nThe meadow belongs to nobody.`;

const shot = async (page: Page, name: string) => {
  const folder = process.env["SHOTS"];
  if (folder) {
    await page.screenshot({ path: `${folder}/${name}.png` });
  }
};
const field = (page: Page) => page.getByRole("textbox", { name: "Message" });

test.skipIf(!chromiumPath)(
  "a file that is attached is cited by the reply, and the passage stands beside it",
  async () => {
    const { page, close } = await openPage(browser, { url: world.app.url, token });
    const chooser = page.getByLabel("Attach files");
    await field(page).waitFor();
    await chooser.setInputFiles({ name: "deed.txt", mimeType: "text/plain", buffer: Buffer.from(deed) });
    const attached = page.getByRole("list", { name: "Attached" });
    await attached.getByRole("button", { name: "deed.txt: Passages" }).click();
    await attached.getByRole("button", { name: "deed.txt: Whole text" }).waitFor();
    await shot(page, "chip-desk");
    await expectNoAxeFindings(page);
    await field(page).fill("Whose is the sluice gate?");
    await field(page).press("Enter");

    const cite = page.getByRole("link", { name: "Source 1" });
    await cite.waitFor();
    const asked = world.upstream.requests.find(({ body }) => JSON.stringify(body ?? "").includes(sentence));
    expect(JSON.stringify(asked?.body.messages)).toContain("<source id=");
    await page.getByRole("button", { name: "Read 1 source" }).waitFor();
    await cite.hover();
    await page.getByText(/^deed\.txt: The deed of the mill/).waitFor();
    await shot(page, "hover-desk");
    await cite.click();
    const panel = page.getByRole("complementary", { name: "Sources" });
    await panel.getByText(sentence).waitFor();
    await panel.getByRole("link", { name: "deed.txt" }).waitFor();
    await panel.getByRole("button", { name: /What the model was given/ }).click();
    await panel.getByRole("region", { name: "Passages and scores" }).getByText("deed.txt").waitFor();
    await shot(page, "panel-desk");
    await expectNoAxeFindings(page);
    const path = new URL(page.url()).pathname;
    await close();

    const phone = await openPage(browser, { url: world.app.url, token, path, size: "phone", theme: "dark" });
    await phone.page.getByRole("link", { name: "Source 1" }).click();
    await phone.page.getByText(sentence).waitFor();
    await shot(phone.page, "panel-phone");
    await expectNoAxeFindings(phone.page);
    await phone.close();
  },
  slow,
);

test.skipIf(!chromiumPath)(
  "# picks files, folders and chats",
  async () => {
    const call = (route: string, body: object) => world.app.call(route, { token, body });
    await call("POST /api/v1/folders/", { name: "Deed folder" });
    await call("POST /api/v1/chats/new", {
      chat: { title: "Deed talk", models: ["alpha"], history: { messages: {}, currentId: null } },
    });
    const { page, close } = await openPage(browser, { url: world.app.url, token });
    await field(page).fill("#deed");
    const options = page.getByRole("listbox");
    await options.getByRole("option", { name: /deed\.txt/ }).waitFor();
    await options.getByRole("option", { name: /Deed talk/ }).waitFor();
    await shot(page, "picker-desk");
    await options.getByRole("option", { name: /Deed folder/ }).click();
    const attached = page.getByRole("list", { name: "Attached" });
    await attached.getByRole("listitem").filter({ hasText: "Deed folder" }).waitFor();
    await field(page).fill("#deed.txt");
    await options.getByRole("option", { name: /deed\.txt/ }).click();
    await attached.getByRole("button", { name: "deed.txt: Passages" }).waitFor();
    await field(page).fill("#https://mill.example/weir");
    await options.getByRole("option", { name: /mill\.example\/weir/ }).click();
    // Nothing of the web can be reached from here: the chip says so before a question is asked.
    await attached.getByRole("button", { name: /^Try mill\.example\/weir again/ }).waitFor();
    await shot(page, "chips-desk");
    await expectNoAxeFindings(page);
    await close();
  },
  slow,
);

test.skipIf(!chromiumPath)(
  "a reader of a shared chat reads the passages and gets no link to files of others",
  async () => {
    const owner = await world.app.user();
    const body = new FormData();
    body.append("file", new Blob([deed], { type: "text/plain" }), "deed.txt");
    const file = (await world.app.call("POST /api/v1/files/", { token: owner.token, body })).body.id;
    const message = (id: string, role: string, parentId: string | null, more: object) => ({
      id,
      role,
      parentId,
      childrenIds: role === "user" ? ["a"] : [],
      timestamp: 1,
      ...more,
    });
    const source = {
      source: { id: file, name: "deed.txt", type: "file" },
      document: [sentence],
      metadata: [
        { file_id: file, name: "deed.txt", page: 2, page_label: "3", start: 23, end: 61, score: 0.9 },
      ],
    };
    const messages = {
      q: message("q", "user", null, { content: "Whose gate?", models: ["alpha"] }),
      a: message("a", "assistant", "q", {
        content: "Ada's [1].",
        model: "alpha",
        done: true,
        sources: [source],
      }),
    };
    const chat = { title: "Gate", models: ["alpha"], history: { messages, currentId: "a" } };
    const own = { token: owner.token };
    const { id } = (await world.app.call("POST /api/v1/chats/new", { ...own, body: { chat } })).body;
    const { share_id: link } = (await world.app.call(`POST /api/v1/chats/${id}/share`, own)).body;
    const reader = await world.app.user();
    const grants = [{ principal_type: "user", principal_id: reader.id, permission: "read" }];
    const access = { ...own, body: { access_grants: grants } };
    expect((await world.app.call(`POST /api/v1/chats/shared/${id}/access/update`, access)).status).toBe(200);
    const { page, close } = await openPage(browser, {
      url: world.app.url,
      token: reader.token,
      path: `/s/${link}`,
    });
    await page.getByRole("link", { name: "Source 1" }).click();
    await page.getByText(sentence).waitFor();
    await page.getByText("Page 3").waitFor();
    await page.getByText("Not yours to open").waitFor();
    expect(await page.locator(`a[href*="${file}"]`).count()).toBe(0);
    await shot(page, "shared-desk");
    await expectNoAxeFindings(page);
    await close();
  },
  slow,
);
