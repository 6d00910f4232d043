import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { startTerminalServer, type TerminalServer } from "#test/support/terminal/server.ts";

let app: App;
let server: TerminalServer;

describeInterface("terminals in the interface", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    [app, server] = await Promise.all([keep(startApp()), keep(startTerminalServer())]);
    await mkdir(join(server.home, "notes"));
    await writeFile(join(server.home, "notes", "plan.txt"), "Buy timber.");
  });

  test("an administrator tries a terminal out, opens it to everyone and saves it", async () => {
    const { token } = await app.admin();
    const { page } = await openPage({ url: app.url, path: "/admin/terminals", token });
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await button("Add a terminal").click();
    await write(page.getByRole("textbox", { name: "Name", exact: true }), "Build server");
    await write(page.getByLabel("Id", { exact: true }), "box");
    await write(page.getByLabel("Address", { exact: true }), "localhost");
    await write(page.getByRole("textbox", { name: "Key" }), "wrong");
    await button("Test").click();
    await page.getByText("An address begins with http").waitFor();
    await write(page.getByLabel("Address", { exact: true }), server.url);
    await button("Test").click();
    await page.getByText("The server cannot be used like this.").waitFor();
    await write(page.getByRole("textbox", { name: "Key" }), server.key);
    await button("Test").click();
    await page.getByText("People can open shells on it.").waitFor();
    await expectNoAxeFindings(page);
    await page.getByText("Everyone signed in", { exact: true }).click();
    await button("Save").click();
    const card = page.getByRole("article", { name: "Build server" });
    await card.getByText("Reachable").waitFor();
    await expectNoAxeFindings(page);
  });

  test("a person types commands beside a chat, and opens a file that they made", async () => {
    const { token } = await app.user();
    const { page } = await openPage({ url: app.url, token });
    await page.getByRole("button", { name: "Terminal", exact: true }).click();
    const panel = page.getByRole("complementary", { name: "Terminal" });
    const rows = panel.locator(".xterm-rows");
    await panel.getByRole("textbox", { name: "Terminal input" }).waitFor({ state: "attached" });
    // The prompt may have been written before anybody listened; Enter brings another.
    const prompted = async () => {
      await page.keyboard.press("Enter");
      return await rows.textContent();
    };
    await expect.poll(prompted, { timeout: 5_000, interval: 200 }).toContain("$");
    await page.keyboard.type(
      "echo six=$((2*3)); printf '\\033[38;2;210;90;5mdeep\\033[0m'; pwd > notes/where.txt",
    );
    await page.keyboard.press("Enter");
    await panel.getByText("six=6").first().waitFor();
    // A 24-bit colour is shown, as the nearest of those that need no style attribute.
    const deep = rows.locator("span", { hasText: /^deep$/ });
    expect(await deep.evaluate((element) => getComputedStyle(element).color)).toBe("rgb(215, 95, 0)");
    await expectNoAxeFindings(page);

    await panel.getByRole("tab", { name: "Files" }).click();
    await panel.getByRole("button", { name: "notes", exact: true }).click();
    await panel.getByRole("button", { name: /^plan.txt/ }).waitFor();
    await panel.getByRole("button", { name: /^where.txt/ }).click();
    await panel.getByText(server.home, { exact: false }).waitFor();
    expect(await readFile(join(server.home, "notes", "where.txt"), "utf8")).toContain(server.home);
    await expectNoAxeFindings(page);
    // The shell is as it was left.
    await panel.getByRole("tab", { name: "Shell" }).click();
    await panel.getByText("six=6").first().waitFor();
    expect(server.shells()).toBe(1);
    await panel.getByRole("button", { name: "End shell 1" }).click();
    await expect.poll(() => server.shells(), { timeout: 5_000 }).toBe(0);
  });
});
