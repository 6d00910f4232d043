import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { tokens } from "#test/support/upstream-scripts.ts";
import { calling, completions, type GatewayApp, saying, startGateway } from "../gateway.fixture.ts";

let gateway: GatewayApp;
let page: Page;
let token: string;
/** The page of the workspace that the first test makes. */
let site: string;

describeInterface("the pages of the gateway", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    gateway = await keep(startGateway());
    ({ token } = await gateway.app.admin());
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: gateway.app.url, token, path: "/admin/gateway" }));
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
    await write(page.getByLabel("Name"), "laptop");
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Create the key" }).click();
    const key = await page.getByLabel("Gateway key", { exact: true }).innerText();
    expect(key).toMatch(/^sk-gw-[0-9a-f]{64}$/);

    await page.getByRole("button", { name: "New workspace" }).click();
    await write(page.getByLabel("Folder"), "../outside");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByText("a path below the folder of workspaces").waitFor();
    await write(page.getByLabel("Folder"), "site");
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
    site = page.url();
  });

  test("a run shows what it changed and takes it back, and its chat shows the tool calls", async () => {
    await page.goto(site);
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
    await write(page.getByLabel("Command", { exact: true }), "cat hello.txt; exit 4");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("exit code 4").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("tab", { name: "Settings" }).click();
    await write(page.getByLabel("Instructions"), "Be kind.");
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
