import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { type OpenApiService, startOpenApiService } from "../openapi/service.fixture.ts";

let app: App;
let admin: TestUser;
let member: TestUser;
let service: OpenApiService;
let upstream: Upstream;
let page: Page;

describeInterface("the page of tool servers", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    [service, upstream] = [await keep(startOpenApiService()), await keep(startUpstream())];
    upstream.models = ["alpha"];
    const env = { OPENAI_API_BASE_URLS: upstream.url, OPENAI_API_KEYS: "key" };
    app = await keep(startApp({ env }));
    [admin, member] = [await app.admin(), await app.user()];
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token: admin.token, path: "/admin/tool-servers" }));
  });

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const toolsOf = async ({ token }: TestUser) =>
    (await app.call("GET /api/v1/tools/", { token })).body.map(({ id }: { id: string }) => id);

  test("an administrator adds a server, tests it, opens it to everyone and calls a function", async () => {
    await button("Add a tool server").click();
    await write(page.getByLabel("Address", { exact: true }), "localhost");
    await button("Test").click();
    await page.getByText("Write an address that begins").waitFor();
    await write(page.getByLabel("Address", { exact: true }), service.url);
    await write(page.getByRole("textbox", { name: "Name", exact: true }), "Workshop");
    await write(page.getByRole("textbox", { name: "Key" }), "sk-workshop-key-1");
    await button("Test").click();
    await page.getByText("4 functions found").waitFor();
    await page.getByText("Others as well", { exact: true }).click();
    await button("Save").click();
    await page.getByText("Name somebody, or choose administrators.").waitFor();
    await page.getByText("Everyone signed in", { exact: true }).click();
    await button("Save").click();
    await page.getByText("The tool server is saved.").waitFor();
    expect(await toolsOf(member)).toEqual(["server:workshop"]);

    await page.getByRole("article", { name: "Workshop" }).getByRole("button", { expanded: false }).click();
    await page.getByRole("button", { name: /put_item/ }).click();
    await button("Call it").click();
    await page.getByText("This is needed.").first().waitFor();
    await write(page.getByLabel("id", { exact: true }), "7");
    await write(page.getByLabel("name", { exact: true }), "Saw");
    await button("Call it").click();
    await page.getByText(/"url": "\/items\/7"/).waitFor();
    expect(service.got.at(-1)).toMatchObject({ url: "/items/7", body: '{"name":"Saw"}' });
    await expectNoAxeFindings(page);
  });

  test("settings keep the key, and a removed server can be had back", async () => {
    await page.getByRole("article", { name: "Workshop" }).getByRole("button", { expanded: false }).click();
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByText(/A key is stored/).waitFor();
    await button("Description, id, filter and headers").click();
    await write(page.getByLabel("Functions that are offered"), "!put_item");
    await button("Save").click();
    await page.getByText("3 functions").waitFor();
    await expectNoAxeFindings(page);
    const tried = { tool_id: "server:workshop", name: "get_item", parameters: { id: "1" } };
    await app.call("POST /api/v1/configs/tool_servers/try", { token: admin.token, body: tried });
    expect(service.got.at(-1)!.headers.authorization).toBe("Bearer sk-workshop-key-1");
    await button("Remove").click();
    await button("Undo").click();
    await page.getByRole("article", { name: "Workshop" }).waitFor();
    expect(await toolsOf(member)).toEqual(["server:workshop"]);
  });

  test("a server of one's own is called by the browser, with a key that the platform never uses", async () => {
    const path = "/settings/tool-servers";
    // Their origins are named in the page's policy; everything else is still a mistake.
    const otherOrigins = [new URL(service.url).origin];
    ({ page } = await openPage({ url: app.url, token: admin.token, path, otherOrigins }));
    await button("Add a tool server").click();
    await write(page.getByLabel("Address", { exact: true }), service.url);
    await write(page.getByRole("textbox", { name: "Key" }), "sk-own-key-1");
    await Promise.all([page.waitForEvent("load"), button("Save and test").click()]);
    await page.getByText("Reachable").waitFor();
    await expectNoAxeFindings(page);
    const call = { id: "c1", name: "get_item", arguments: '{"id":"own"}' };
    upstream.reply("/chat/completions", sse(toolCallChunks([call])));
    upstream.reply("/chat/completions", text("Found it."));
    await page.goto(app.url);
    await write(page.getByRole("textbox", { name: "Message" }), "Look it up");
    await page.getByRole("textbox", { name: "Message" }).press("Enter");
    await page.getByText("Found it.", { exact: true }).waitFor({ timeout: 10_000 });
    const got = service.got.findLast(({ url }) => url === "/items/own");
    expect(got?.headers).toMatchObject({ authorization: "Bearer sk-own-key-1", origin: app.url });

    // A server that is away is no secret: the message goes out without its tools, and the chat says so.
    const { host, origin } = new URL(service.url);
    let isAway = true;
    await page.route(
      (url) => url.origin === origin,
      (route) => (isAway ? route.abort("connectionrefused") : route.fallback()),
    );
    upstream.reply("/chat/completions", text("Without it."));
    await page.goto(app.url);
    await write(page.getByRole("textbox", { name: "Message" }), "Look again");
    await page.getByRole("textbox", { name: "Message" }).press("Enter");
    await page.getByText(`Sent without the tools of ${host}. Couldn’t reach ${host}.`).waitFor();
    await page.getByText("Without it.", { exact: true }).waitFor();
    isAway = false;
    await button("Try again").click();
    await page.getByText(`The tools of ${host} are here from the next message on.`).waitFor();
  });
});
