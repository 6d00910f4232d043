import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ProtectedServer, startProtectedServer } from "#plugins/mcp/oauth/protected-server.fixture.ts";
import {
  type OddServer,
  startEverything,
  startOddServer,
  type TestServer,
} from "#plugins/mcp/servers.fixture.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage, type OpenPage } from "#test/support/interface.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";

let stage: AppWithUpstream;
let servers: [TestServer, OddServer, ProtectedServer];
let browser: Browser;
let opened: OpenPage;
let page: Page;

describe.skipIf(chromiumPath === undefined)("MCP servers in the interface", () => {
  beforeAll(async () => {
    servers = await Promise.all([
      startEverything(),
      startOddServer(),
      startProtectedServer(),
      buildInterface(),
    ]).then(([all, odd, vault]) => [all, odd, vault]);
    const [all, odd, vault] = servers;
    const connection = (name: string, url: string, auth: string) => ({
      type: "mcp",
      url,
      auth_type: auth,
      info: { id: name.toLowerCase(), name, description: `What ${name} keeps for the whole team` },
      config: {
        enable: true,
        access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }],
      },
    });
    const connections = [
      connection("Library", all.url, "none"),
      connection("Rooms", odd.url, "none"),
      connection("Vault", vault.url, "oauth_2.1"),
    ];
    [stage, browser] = await Promise.all([
      startAppWithUpstream({
        env: {
          TOOL_SERVER_CONNECTIONS: JSON.stringify(connections),
          // A scripted reply is for the question, not for a request that writes its search queries.
          ENABLE_RETRIEVAL_QUERY_GENERATION: "false",
        },
      }),
      openBrowser(),
    ]);
    const user = await stage.app.user();
    opened = await openPage(browser, {
      url: stage.app.url,
      token: user.token,
      path: "/settings/connected-accounts",
    });
    page = opened.page;
  }, 150_000);

  afterAll(async () => {
    // The authorization server is another host: people are led there, and come back.
    const own = opened?.problems.filter((problem) => !problem.includes(servers[2].origin)) ?? [];
    opened?.problems.splice(0, opened.problems.length, ...own);
    await opened?.close();
    await browser?.close();
    await stage?.close();
    await Promise.all((servers ?? []).map((server) => server.close()));
  });

  test("connects an account and ends the connection", async () => {
    await page.getByText("not connected").waitFor();
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("You are signed in.").waitFor();
    await page.getByText(/since/).waitFor();
    expect(new URL(page.url()).search).toBe("");
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Disconnect" }).click();
    await page
      .getByRole("alertdialog")
      .or(page.getByRole("dialog"))
      .getByRole("button", { name: "Disconnect" })
      .click();
    await page.getByText("not connected").waitFor();
    expect(servers[2].counts.revoked).toBe(1);
  });

  test("writes a prompt of a server into the message, and attaches a text", async () => {
    await page.goto(`${stage.app.url}/`);
    const offer = async () => {
      await page.getByRole("button", { name: "Add to the message" }).click();
      await page.getByRole("menuitem", { name: "From a tool server" }).click();
    };
    await offer();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Sign in to see what it offers.").waitFor();
    await dialog.getByRole("searchbox").fill("arguments");
    await dialog.getByRole("button", { name: /Arguments Prompt/ }).click();
    await dialog.getByRole("textbox").first().fill("Berlin");
    await dialog.getByRole("button", { name: "Write it" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(
      await page
        .getByRole("textbox", { name: /message/i })
        .first()
        .inputValue(),
    ).toContain("Berlin");
    await offer();
    await dialog.getByRole("searchbox").fill("architecture");
    await dialog
      .getByRole("button", { name: /architecture/ })
      .first()
      .click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("architecture.md", { exact: true }).waitFor();
  });

  test("answers what a tool asks, by the form it describes", async () => {
    await page.goto(`${stage.app.url}/`);
    const ask = { id: "c1", name: "rooms_ask", arguments: "{}" };
    stage.upstream.reply("/chat/completions", sse(toolCallChunks([ask])));
    stage.upstream.reply("/chat/completions", text("Booked."));
    await page.route("**/api/chat/completions", (route) =>
      route.continue({
        postData: JSON.stringify({
          ...route.request().postDataJSON(),
          tool_ids: ["server:mcp:rooms", "server:mcp:vault"],
        }),
      }),
    );
    const field = page.getByRole("textbox", { name: /message/i }).first();
    await field.fill("Book a room");
    await field.press("Enter");
    const form = page.getByRole("form", { name: "Rooms asks" });
    await form.getByText("Which room?").waitFor();
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("This is needed.").waitFor();
    await form.getByRole("textbox", { name: "room" }).fill("Blue");
    await form.getByRole("button", { name: "Send" }).click();
    await page.getByText("Booked.").first().waitFor();
    const told = stage.upstream.requests.map(({ body }) => JSON.stringify(body)).join();
    expect(told).toContain(String.raw`\"room\":\"Blue\"`);
    await page.getByText(/not signed in to "Vault"/).waitFor();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  });
});
