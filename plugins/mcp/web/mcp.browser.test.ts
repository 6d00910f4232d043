import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type ProtectedServer, startProtectedServer } from "#plugins/mcp/oauth/protected-server.fixture.ts";
import {
  type OddServer,
  startEverything,
  startOddServer,
  type TestServer,
} from "#plugins/mcp/servers.fixture.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";

let stage: AppWithUpstream;
let servers: [TestServer, OddServer, ProtectedServer];
let page: Page;
let token: string;

describeInterface("MCP servers in the interface", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    servers = await Promise.all([
      keep(startEverything()),
      keep(startOddServer()),
      keep(startProtectedServer()),
    ]);
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
    stage = await keep(
      startAppWithUpstream({
        env: {
          TOOL_SERVER_CONNECTIONS: JSON.stringify(connections),
          // A scripted reply is for the question, not for a request that writes its search queries.
          ENABLE_RETRIEVAL_QUERY_GENERATION: "false",
        },
      }),
    );
    ({ token } = await stage.app.user());
  });
  beforeEach(async () => {
    ({ page } = await openPage({
      url: stage.app.url,
      token,
      path: "/settings/connected-accounts",
      // The authorization server is another host: people are led there, and come back.
      otherOrigins: [servers[2].origin],
    }));
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
    await write(dialog.getByRole("searchbox"), "arguments");
    await dialog.getByRole("button", { name: /Arguments Prompt/ }).click();
    await write(dialog.getByRole("textbox").first(), "Berlin");
    await dialog.getByRole("button", { name: "Write it" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(
      await page
        .getByRole("textbox", { name: /message/i })
        .first()
        .inputValue(),
    ).toContain("Berlin");
    await offer();
    await write(dialog.getByRole("searchbox"), "architecture");
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
    await write(field, "Book a room");
    await field.press("Enter");
    const form = page.getByRole("form", { name: "Rooms asks" });
    await form.getByText("Which room?").waitFor();
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("Required", { exact: true }).waitFor();
    await write(form.getByRole("textbox", { name: "room" }), "Blue");
    await form.getByRole("button", { name: "Send" }).click();
    await page.getByText("Booked.").first().waitFor();
    const told = stage.upstream.requests.map(({ body }) => JSON.stringify(body)).join();
    expect(told).toContain(String.raw`\"room\":\"Blue\"`);
    await page.getByText(/not signed in to "Vault"/).waitFor();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  });
});
