import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { text } from "#test/support/upstream-scripts.ts";

describeInterface("citations", ({ setUp, openPage }) => {
  // From a dropped file to the passage that a reply cites, and what others see of it.

  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha"] }));
    world.upstream.always("/chat/completions", text("The sluice gate is Ada Marten's [1]."));
    ({ token } = await world.app.admin());
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

  test("a file that is attached is cited by the reply, and the passage stands beside it", async () => {
    const { page, close } = await openPage({ url: world.app.url, token });
    const chooser = page.getByLabel("Attach files");
    await field(page).waitFor();
    await chooser.setInputFiles({ name: "deed.txt", mimeType: "text/plain", buffer: Buffer.from(deed) });
    const attached = page.getByRole("list", { name: "Attached" });
    await attached.getByRole("button", { name: "deed.txt: Passages" }).click();
    await attached.getByRole("button", { name: "deed.txt: Full text" }).waitFor();
    await shot(page, "chip-desk");
    await expectNoAxeFindings(page);
    await write(field(page), "Whose is the sluice gate?");
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

    const phone = await openPage({ url: world.app.url, token, path, size: "phone", theme: "dark" });
    await phone.page.getByRole("link", { name: "Source 1" }).click();
    await phone.page.getByText(sentence).waitFor();
    await shot(phone.page, "panel-phone");
    await expectNoAxeFindings(phone.page);
  });

  test("# picks files, folders and chats", async () => {
    const call = (route: string, body: object) => world.app.call(route, { token, body });
    await call("POST /api/v1/folders/", { name: "Deed folder" });
    await call("POST /api/v1/chats/new", {
      chat: { title: "Deed talk", models: ["alpha"], history: { messages: {}, currentId: null } },
    });
    const { page } = await openPage({ url: world.app.url, token });
    await write(field(page), "#deed");
    const options = page.getByRole("listbox");
    await options.getByRole("option", { name: /deed\.txt/ }).waitFor();
    await options.getByRole("option", { name: /Deed talk/ }).waitFor();
    await shot(page, "picker-desk");
    await options.getByRole("option", { name: /Deed folder/ }).click();
    const attached = page.getByRole("list", { name: "Attached" });
    await attached.getByRole("listitem").filter({ hasText: "Deed folder" }).waitFor();
    await write(field(page), "#deed.txt");
    await options.getByRole("option", { name: /deed\.txt/ }).click();
    await attached.getByRole("button", { name: "deed.txt: Passages" }).waitFor();
    await write(field(page), "#https://mill.example/weir");
    await options.getByRole("option", { name: /mill\.example\/weir/ }).click();
    // Nothing of the web can be reached from here: the chip says so before a question is asked.
    await attached.getByRole("button", { name: /^Try mill\.example\/weir again/ }).waitFor();
    await shot(page, "chips-desk");
    await expectNoAxeFindings(page);
  });

  test("a reader of a shared chat reads the passages and gets no link to files of others", async () => {
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
    const { page } = await openPage({
      url: world.app.url,
      token: reader.token,
      path: `/s/${link}`,
    });
    await page.getByRole("link", { name: "Source 1" }).click();
    await page.getByText(sentence).waitFor();
    await page.getByText("Page 3").waitFor();
    await page.getByText("No access").waitFor();
    expect(await page.locator(`a[href*="${file}"]`).count()).toBe(0);
    await shot(page, "shared-desk");
    await expectNoAxeFindings(page);
  });
});
