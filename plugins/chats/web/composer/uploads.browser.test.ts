import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { text } from "#test/support/upstream-scripts.ts";

/** Two busy cores may take longer than the default second. */
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 });
const mega = 1024 * 1024;

describeInterface("files in the composer", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha"] }));
    ({ token } = await world.app.admin());
    await world.app.running.registry.set({ FILE_QUOTA_PER_USER: 1 }, null);
  });

  async function attach(page: Page, name: string, content: string): Promise<void> {
    const chosen = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Add to the message" }).click();
    await page.getByRole("menuitem", { name: "Attach files" }).click();
    const chooser = await chosen;
    await chooser.setFiles({ name, mimeType: "text/plain", buffer: Buffer.from(content) });
  }

  const stored = async (): Promise<string[]> =>
    (await world.app.call("GET /api/v1/files/?mine=true&content=false", { token })).body.items.map(
      ({ filename }: { filename: string }) => filename,
    );
  const isKept = (page: Page, name: string) =>
    page.waitForFunction(
      (wanted) =>
        Object.entries(localStorage).some(
          ([key, draft]) => key.endsWith(":chat:new") && draft.includes(wanted),
        ),
      name,
    );

  test("a refusal is told whole, and offers no second try that cannot help, on a phone", async () => {
    const { page } = await openPage({ url: world.app.url, token, size: "phone" });
    await attach(page, "flour.txt", "x".repeat(mega));
    await isKept(page, "flour.txt");
    await attach(page, "f3.txt", "no room for this");
    await page
      .getByRole("status")
      .filter({
        hasText:
          /^f3\.txt: There is no room for this file: your files take 1 of the 1 MB .* under Settings > Files, or ask an administrator for more room\.$/,
      })
      .last()
      .waitFor();
    expect(await page.getByRole("button", { name: "Try f3.txt again" }).count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Remove f3.txt" }).click();
    await page.getByText("There is no room").first().waitFor({ state: "detached" });
    expect(await stored()).toEqual(["flour.txt"]);
    await page.getByRole("button", { name: "Remove flour.txt" }).click();
    await poll(stored).toEqual([]);
  });

  test("an upload that broke off can be tried again", async () => {
    const { page } = await openPage({ url: world.app.url, token });
    await page.route("**/api/v1/files/", (route) => route.abort(), { times: 1 });
    await attach(page, "sack.txt", "a sack");
    await page.getByText("sack.txt: The server could not be reached. Try again or remove it.").waitFor();
    await page.getByRole("button", { name: "Try sack.txt again" }).click();
    await isKept(page, "sack.txt");
    expect(await stored()).toEqual(["sack.txt"]);
    await page.getByRole("button", { name: "Remove sack.txt" }).click();
    await poll(stored).toEqual([]);
  });

  test("a file that was removed stays where a message or another tab has it", async () => {
    world.upstream.always("/chat/completions", text("Seven sacks."));
    const { page, context } = await openPage({ url: world.app.url, token });
    await attach(page, "bill.txt", "seven sacks");
    await isKept(page, "bill.txt");
    const second = await context.newPage();
    await second.goto(world.app.url);
    await second.getByRole("button", { name: "Remove bill.txt" }).waitFor();
    const deletions: string[] = [];
    context.on("request", (request) => {
      if (request.method() === "DELETE") {
        deletions.push(request.url());
      }
    });
    await page.getByRole("button", { name: "Remove bill.txt" }).click();
    await page.getByRole("button", { name: "Remove bill.txt" }).waitFor({ state: "detached" });
    await write(second.getByRole("textbox", { name: "Message" }), "How many?");
    await second.keyboard.press("Enter");
    await second.getByText("Seven sacks.").first().waitFor();
    expect(await stored()).toEqual(["bill.txt"]);
    expect(deletions).toEqual([]);
  });
});
