import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { text } from "#test/support/upstream-scripts.ts";

describeInterface("reading a long chat", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream());
    ({ token } = await world.app.admin());
  });

  const shot = async (page: Page, name: string) => {
    const folder = process.env["SHOTS"];
    if (folder) {
      await page.screenshot({ path: `${folder}/${name}.png` });
    }
  };

  /** Stores a chat whose messages follow one another; of own ones and replies in turn. */
  async function store(texts: readonly string[]): Promise<string> {
    const entries = texts.map((content, index): [string, object] => [
      `m${index}`,
      {
        id: `m${index}`,
        parentId: index === 0 ? null : `m${index - 1}`,
        childrenIds: index === texts.length - 1 ? [] : [`m${index + 1}`],
        content,
        timestamp: 1_760_000_000 + index,
        ...(index % 2 === 0
          ? { role: "user", models: ["alpha"] }
          : { role: "assistant", model: "alpha", done: true }),
      },
    ]);
    const history = { messages: Object.fromEntries(entries), currentId: `m${texts.length - 1}` };
    const response = await fetch(`${world.app.url}/api/v1/chats/new`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ chat: { title: "Wheels", models: ["alpha"], history } }),
    });
    return ((await response.json()) as { id: string }).id;
  }

  /** What the page marks, as the reader sees it. */
  const marked = (page: Page) =>
    page.evaluate(() => {
      const [range] = [...(CSS.highlights.get("found-now") ?? [])] as Range[];
      const box = range?.getBoundingClientRect();
      return {
        text: range?.toString() ?? "",
        isInSight: box !== undefined && box.top > 50 && box.bottom < innerHeight - 100,
      };
    });

  test("finds texts in messages that are not in the page", async () => {
    const texts = Array.from({ length: 400 }, (_one, index) =>
      index % 2 === 0 ? `Question ${index}` : `Reply ${index}.\n\n${"It turns and turns. ".repeat(30)}`,
    );
    texts[6] = `${"A long question.\n".repeat(40)}A needle.`;
    texts[201] = `${"Far above.\n\n".repeat(60)}Two **nee**dles: needle.\n\n\`\`\`js\nfind("needle");\n\`\`\`\n`;
    const id = await store(texts);
    const { page, close } = await openPage({ url: world.app.url, token, path: `/c/${id}` });
    await page.getByText("Reply 399.").waitFor();
    const composer = page.getByRole("textbox", { name: /Message|Ask/ });
    await composer.focus();
    await page.keyboard.press("Control+f");
    const field = page.getByRole("textbox", { name: "Find in this chat" });
    await write(field, "NEEDLE");
    // Nothing follows what is in sight, so the last message that holds it is shown.
    await page.getByText("2 of 4").waitFor();
    await expect.poll(() => marked(page)).toEqual({ text: "needle", isInSight: true });
    await shot(page, "find-desk");
    await expectNoAxeFindings(page);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.getByText("4 of 4").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("1 of 4").waitFor();
    // It stands in a long message that was folded.
    await expect.poll(() => marked(page)).toEqual({ text: "needle", isInSight: true });
    await shot(page, "find-own");
    await page.keyboard.press("Shift+Enter");
    await page.getByText("4 of 4").waitFor();
    await expect.poll(() => marked(page)).toEqual({ text: "needle", isInSight: true });
    await write(field, "no such text");
    await page.getByText("Not found").waitFor();
    await page.evaluate(() =>
      addEventListener("keydown", ({ defaultPrevented }) => Object.assign(globalThis, { defaultPrevented })),
    );
    await page.keyboard.press("Control+f");
    const isTaken = await page.evaluate(
      () => (globalThis as { defaultPrevented?: boolean }).defaultPrevented,
    );
    expect(isTaken, "a second Mod+F is the browser's").toBe(false);
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    expect(await composer.evaluate((node) => node === document.activeElement)).toBe(true);
    expect(await page.evaluate(() => CSS.highlights.size)).toBe(0);
    await close();

    const phone = await openPage({
      url: world.app.url,
      token,
      path: `/c/${id}`,
      size: "phone",
      theme: "dark",
    });
    await phone.page.getByRole("button", { name: "Chat menu" }).click();
    await phone.page.getByRole("menuitem", { name: "Find in this chat" }).click();
    await write(phone.page.getByRole("textbox", { name: "Find in this chat" }), "dle");
    await phone.page.getByText("2 of 4").waitFor();
    await expect.poll(() => marked(phone.page)).toEqual({ text: "dle", isInSight: true });
    await shot(phone.page, "find-phone");
  });

  test("goes through messages and changes them by keys", async () => {
    const texts = Array.from({ length: 20 }, (_one, index) =>
      index % 2 === 0 ? `Question ${index}` : `Reply ${index}.\n\n${"It turns. ".repeat(99)}`,
    );
    texts[5] = "In a list:\n\n- one\n\n  ```sh\n  echo one\n    two\n  ```\n";
    const id = await store(texts);
    world.upstream.always("/chat/completions", text("Three metres."));
    const { page, context } = await openPage({ url: world.app.url, token, path: `/c/${id}` });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByText("Reply 19.").waitFor();
    const chosen = () =>
      page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset["message"]);
    await page.getByRole("region", { name: "Messages" }).focus();
    for (const message of ["m19", "m18", "m17", "m16"]) {
      await page.keyboard.press("k");
      await expect.poll(chosen).toBe(message);
    }
    await page.keyboard.press("j");
    await expect.poll(chosen).toBe("m17");
    await shot(page, "keys-chosen");
    await page.keyboard.press("e");
    const field = page.getByRole("textbox", { name: "Text of the reply" });
    await write(field, "It stands still.");
    // Letters that are written are no keys.
    await page.keyboard.type(" jker");
    await page.keyboard.press("Control+Enter");
    await page.getByText("It stands still. jker").waitFor();
    await expect.poll(chosen).toBe("m17");
    await page.keyboard.press("r");
    await page.getByText("Three metres.", { exact: true }).waitFor();
    await expect.poll(chosen).not.toBe("m17");
    await page.getByText("2/2").waitFor();
    await page.keyboard.press("[");
    await expect.poll(chosen).toBe("m17");
    await page.keyboard.press("]");
    await page.getByText("Three metres.", { exact: true }).waitFor();
    await page.keyboard.press("Control+Shift+:");
    await page.getByText("The last code was copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("echo one\n  two");
    await page.keyboard.press("?");
    const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    for (const title of ["Select the next message", "Regenerate the selected reply", "Copy the last code"]) {
      await sheet.getByText(title).waitFor();
    }
  });
});
