import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

describeInterface("functions in a chat", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  const drawing = encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="black" stroke-width="2"><circle cx="12" cy="12" r="9"/></svg>',
  );
  const translate = `/** description: Puts the reply into another language */
  export const meta = { icon: "data:image/svg+xml,${drawing}" };
  export async function action(body, { host }) {
    await host.emit({ type: "status", data: { description: "Reading the reply", done: false } });
    const language = await host.ask({ type: "input", data: { title: "Language", message: "Into which one?" } });
    const isSure = await host.ask({ type: "confirmation", data: { title: "Replace the reply?", message: "It is overwritten." } });
    await host.emit({ type: "status", data: { description: isSure ? "Translated" : "Left as it was", done: true } });
    return isSure ? { messages: body.messages.map((one) => one.id === body.id ? { ...one, content: language + ": " + one.content } : one) } : null;
  }`;
  const several = `export const actions = [{ id: "up", name: "Louder" }, { id: "down", name: "Quieter" }, { id: "long", name: "Much longer name of a function" }];
  export const meta = { priority: 2 };
  export async function action(body, { id, host }) {
    if (id === "down") throw new Error("It is quiet already.");
    await host.ask({ type: "confirmation", data: { title: "Go on?" } });
  }`;

  async function call(path: string, body?: object): Promise<unknown> {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const response = await fetch(`${world.app.url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body ?? {}),
    });
    expect(response.status, path).toBe(200);
    return await response.json();
  }

  async function addFunction(name: string, content: string): Promise<void> {
    const id = name.toLowerCase();
    await call("/api/v1/functions/create", { id, name, content, meta: {} });
    await call(`/api/v1/functions/id/${id}/toggle`);
    await call(`/api/v1/functions/id/${id}/toggle/global`);
  }

  const shot = async (page: Page, name: string) => {
    const folder = process.env["SHOTS"];
    if (folder) {
      await page.screenshot({ path: `${folder}/${name}.png` });
    }
  };

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream());
    ({ token } = await world.app.admin());
    await addFunction("Translate", translate);
    await addFunction("volume", several);
  });

  test("runs functions on a reply, asks for them and shows their failures", async () => {
    const messages = {
      q: {
        id: "q",
        parentId: null,
        childrenIds: ["a"],
        role: "user",
        content: "Does it turn?",
        models: ["alpha"],
      },
      a: {
        id: "a",
        parentId: "q",
        childrenIds: [],
        role: "assistant",
        content: "It turns.",
        model: "alpha",
        done: true,
      },
    };
    const chat = { title: "Wheels", models: ["alpha"], history: { messages, currentId: "a" } };
    const { id } = (await call("/api/v1/chats/new", { chat })) as { id: string };
    const { page, close } = await openPage({ url: world.app.url, token, path: `/c/${id}` });
    const reply = page.getByRole("article", { name: /Reply of alpha/ });
    await reply.getByRole("button", { name: "Translate" }).click();
    await reply.getByText("Reading the reply").waitFor();
    await reply.getByText("“Translate” is running…").waitFor();
    expect(await reply.getByRole("button", { name: "Louder" }).isDisabled()).toBe(true);
    await shot(page, "function-asks");
    await expectNoAxeFindings(page);
    await write(page.getByRole("textbox", { name: "Language" }), "German");
    await page.keyboard.press("Enter");
    await page.getByText("It is overwritten.").waitFor();
    await page.getByRole("button", { name: "Yes" }).click();
    await reply.getByText("German: It turns.").waitFor();
    await reply.getByText("Translated").waitFor();
    await reply.getByText("is running").waitFor({ state: "detached" });
    await reply.getByRole("button", { name: "Quieter" }).click();
    await reply.getByText("It is quiet already.").waitFor();
    await shot(page, "function-failed");
    await reply.getByRole("button", { name: "Dismiss" }).click();
    await reply.getByText("It is quiet already.").waitFor({ state: "detached" });
    // The fourth is in the menu; what it asks goes when it is stopped.
    await reply.getByRole("button", { name: "More" }).click();
    await shot(page, "function-menu");
    await page.getByRole("menuitem", { name: "Much longer name" }).click();
    await page.getByText("Go on?").waitFor();
    await reply.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Go on?").waitFor({ state: "detached" });
    await page.reload();
    await reply.getByText("German: It turns.").waitFor();
    await close();

    const phone = await openPage({
      url: world.app.url,
      token,
      path: `/c/${id}`,
      size: "phone",
      theme: "dark",
    });
    await phone.page.getByRole("button", { name: "Translate", exact: true }).waitFor();
    // Messages that were stored without a time show none.
    expect(await phone.page.locator("time").count()).toBe(0);
    await shot(phone.page, "function-phone");
  });
});
