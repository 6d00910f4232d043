import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage, type OpenPage } from "#test/support/interface.ts";
import { tokens } from "#test/support/upstream-scripts.ts";
import { calling, completions, type GatewayApp, saying, startGateway } from "../gateway.fixture.ts";

let gateway: GatewayApp;
let browser: Browser;
let opened: OpenPage;
let page: Page;

describe.skipIf(chromiumPath === undefined)("the pages of the gateway", () => {
  beforeAll(async () => {
    await buildInterface();
    [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
    const { token } = await gateway.app.admin();
    opened = await openPage(browser, { url: gateway.app.url, token, path: "/admin/gateway" });
    page = opened.page;
  }, 240_000);

  afterAll(async () => {
    await opened?.close();
    await browser?.close();
    await gateway?.close();
  });

  const send = (key: string, model: string) =>
    gateway.gateway("POST /v1/chat/completions", key, {
      body: { model, messages: [{ role: "user", content: "Greet" }], stream: false },
    });

  test("a key is made behind a warning, shown once, and opens a workspace that was made here", async () => {
    await page.getByText(`${await gateway.url()}/v1`, { exact: true }).waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByText("A key works like a shell on this server.").waitFor();
    await page.getByLabel("Name").fill("laptop");
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Create the key" }).click();
    const key = await page.getByLabel("Gateway key", { exact: true }).innerText();
    expect(key).toMatch(/^sk-gw-[0-9a-f]{64}$/);

    await page.getByRole("button", { name: "New workspace" }).click();
    await page.getByLabel("Folder").fill("../outside");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByText("a path below the folder of workspaces").waitFor();
    await page.getByLabel("Folder").fill("site");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByText("No run yet").waitFor();
    await expectNoAxeFindings(page);

    await writeFile(join(gateway.root, "site/hello.txt"), "old\n");
    gateway.upstream.reply(
      completions,
      calling("edit_file", { path: "hello.txt", old_text: "old", new_text: "new" }),
    );
    gateway.upstream.reply(completions, saying("Greeted."));
    expect((await send(key, "gw/site")).status).toBe(200);
  });

  test("a run shows what it changed and takes it back, and its chat shows the tool calls", async () => {
    await page.reload();
    await page.getByText("1 file changed").waitFor();
    await page.getByRole("button", { name: "Show the changes" }).click();
    await page.getByText("+new").waitFor();
    await page.getByText("-old").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Undo the changes" }).click();
    await page.getByText("Undone", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "Files" }).click();
    await page.getByRole("button", { name: "hello.txt" }).click();
    await page.getByText("old", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "Terminal" }).click();
    await page.getByLabel("Command", { exact: true }).fill("cat hello.txt; exit 4");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("exit code 4").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByLabel("Instructions").fill("Be kind.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("tab", { name: "Agent runs" }).click();
    await page.getByRole("link", { name: "Open the chat" }).click();
    await page.getByText("Greeted.").waitFor();
    await page.getByText("Edit a file").first().waitFor();
  });

  test("a run at work is stopped where it is listed", async () => {
    const key = await gateway.key();
    const { id } = await gateway.workspace("long");
    gateway.upstream.reply(completions, tokens(3_000, 50));
    const answered = send(key, "gw/long");
    await expect
      .poll(async () => (await gateway.admin(`GET /api/v1/gateway/workspaces/${id}/runs`)).body.length, {
        timeout: 30_000,
      })
      .toBe(1);
    await page.goto(`${gateway.app.url}/admin/gateway/${id}`);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped").waitFor();
    await answered;
  });
});
