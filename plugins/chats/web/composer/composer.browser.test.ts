import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { makePieces, paced } from "#test/support/upstream-paced.ts";
import { text } from "#test/support/upstream-scripts.ts";

describeInterface("the composer", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha", "beta"] }));
    ({ token } = await world.app.admin());
  });

  async function open(options: { size?: "phone" } = {}) {
    const opened = await openPage({ url: world.app.url, token, ...options });
    return opened;
  }
  const fieldOf = (page: Page) => page.getByRole("textbox", { name: "Message" });

  test("keeps a draft with its file, sends it, and keeps the chat", async () => {
    world.upstream.always("/chat/completions", text("The wheel turns."));
    const { page } = await open();
    const field = fieldOf(page);
    await write(field, "Does it turn?");
    await field.evaluate((element) => {
      const data = new DataTransfer();
      data.items.add(new File(["ninety turns"], "wheel.txt", { type: "text/plain" }));
      // oxlint-disable-next-line no-restricted-properties -- no page can put a file on the clipboard
      element.dispatchEvent(
        new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
      );
    });
    await page.getByText("wheel.txt", { exact: true }).waitFor();
    await page.waitForFunction(() =>
      Object.entries(localStorage).some(
        ([key, draft]) => key.endsWith(":chat:new") && draft.includes("wheel.txt"),
      ),
    );
    await page.reload();
    await page.getByText("wheel.txt", { exact: true }).waitFor();
    expect(await field.inputValue()).toBe("Does it turn?");
    await expectNoAxeFindings(page);
    await field.press("Enter");
    await page.getByText("The wheel turns.").first().waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    expect(await field.inputValue()).toBe("");

    await page.keyboard.press("Control+Period");
    const system = page.getByRole("textbox", { name: "System prompt" });
    await write(system, "Answer like a miller.");
    await system.blur();
    await expectNoAxeFindings(page);
    await page.keyboard.press("Control+Slash");
    await page.keyboard.type("And now?");
    await page.keyboard.press("Enter");
    await page.getByText("And now?").first().waitFor();
    await page.getByRole("button", { name: "Send message" }).waitFor();
    const asked = world.upstream.requests.map((request) => JSON.stringify(request.body ?? null));
    expect(asked.find((body) => body.includes("And now?") && body.includes('"stream":true'))).toContain(
      "Answer like a miller.",
    );
    await page.reload();
    await page.getByText("The wheel turns.").first().waitFor();

    await page.getByRole("button", { name: "Chat menu" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await write(page.getByRole("textbox", { name: "Title" }), "Mill talk");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.waitForFunction(() => document.title.startsWith("Mill talk"));
    await page.getByRole("button", { name: "Chat menu" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.waitForURL(/\/$/);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("And now?").first().waitFor();
  });

  test("lines up a message, stops the run, and takes the last one back", async () => {
    world.upstream.always("/chat/completions", paced(makePieces(400), { every: 25 }));
    const { page } = await open();
    const field = fieldOf(page);
    await write(field, "Grind slowly");
    await field.press("Enter");
    await page.getByRole("button", { name: "Stop the reply" }).waitFor();
    await write(field, "Then the next sack");
    await field.press("Enter");
    const remove = page.getByRole("button", { name: "Remove waiting message" });
    await page.getByText("Then the next sack").waitFor();
    await remove.click();
    await page.waitForURL(/\/c\/[^/]+$/);
    await field.press("Escape");
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    await field.press("ArrowUp");
    expect(await field.inputValue()).toBe("Grind slowly");
    await field.press("Escape");
    expect(await field.inputValue()).toBe("");
  });

  test("keeps nothing of a temporary chat until it is told to, on a phone", async () => {
    world.upstream.always("/chat/completions", text("Nobody will know."));
    const { page } = await open({ size: "phone" });
    await page.getByRole("button", { name: "Temporary chat" }).click();
    await page.getByRole("heading", { name: "Temporary chat" }).waitFor();
    await page.getByRole("button", { name: /^Model: / }).click();
    await page.getByRole("dialog", { name: "Choose a model" }).getByText("beta").first().waitFor();
    await expectNoAxeFindings(page);
    await page.keyboard.press("Escape");
    await write(fieldOf(page), "A secret");
    await page.getByRole("button", { name: "Send message" }).click();
    await page.getByText("Nobody will know.").first().waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    await page.getByRole("button", { name: "Keep chat" }).click();
    await page.waitForURL(/\/c\/[^/]+$/);
    await page.reload();
    await page.getByText("Nobody will know.").first().waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).toBe(false);
  });
});
