import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage, type OpenPage } from "#test/support/interface.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { type OpenApiService, startOpenApiService } from "../openapi/service.fixture.ts";

let app: App;
let browser: Browser;
let admin: TestUser;
let member: TestUser;
let service: OpenApiService;
let upstream: Upstream;
let opened: OpenPage;
let page: Page;

describe.skipIf(chromiumPath === undefined)("the page of tool servers", () => {
  beforeAll(async () => {
    await buildInterface();
    [service, upstream] = [await startOpenApiService(), await startUpstream()];
    upstream.models = ["alpha"];
    const env = { OPENAI_API_BASE_URLS: upstream.url, OPENAI_API_KEYS: "key" };
    [app, browser] = await Promise.all([startApp({ env }), openBrowser()]);
    [admin, member] = [await app.admin(), await app.user()];
    opened = await openPage(browser, { url: app.url, token: admin.token });
    page = opened.page;
  });

  afterAll(async () => {
    await opened?.close();
    await browser?.close();
    await app?.close();
    await Promise.all([service?.close(), upstream?.close()]);
  });

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const toolsOf = async ({ token }: TestUser) =>
    (await app.call("GET /api/v1/tools/", { token })).body.map(({ id }: { id: string }) => id);

  test("an administrator adds a server, tests it, opens it to everyone and calls a function", async () => {
    await page.goto(`${app.url}/admin/tool-servers`);
    await button("Add a tool server").click();
    await page.getByLabel("Address", { exact: true }).fill("localhost");
    await button("Test").click();
    await page.getByText("Write an address that begins").waitFor();
    await page.getByLabel("Address", { exact: true }).fill(service.url);
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Workshop");
    await page.getByRole("textbox", { name: "Key" }).fill("sk-workshop-key-1");
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
    await page.getByLabel("id", { exact: true }).fill("7");
    await page.getByLabel("name", { exact: true }).fill("Saw");
    await button("Call it").click();
    await page.getByText(/"url": "\/items\/7"/).waitFor();
    expect(service.got.at(-1)).toMatchObject({ url: "/items/7", body: '{"name":"Saw"}' });
    await expectNoAxeFindings(page);
  });

  test("settings keep the key, and a removed server can be had back", async () => {
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByText(/A key is stored/).waitFor();
    await button("Description, id, filter and headers").click();
    await page.getByLabel("Functions that are offered").fill("!put_item");
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
    await page.goto(`${app.url}/settings/tool-servers`);
    await button("Add a tool server").click();
    await page.getByLabel("Address", { exact: true }).fill(service.url);
    await page.getByRole("textbox", { name: "Key" }).fill("sk-own-key-1");
    await Promise.all([page.waitForEvent("load"), button("Save and test").click()]);
    await page.getByText("Reachable").waitFor();
    await expectNoAxeFindings(page);
    const call = { id: "c1", name: "get_item", arguments: '{"id":"own"}' };
    upstream.reply("/chat/completions", sse(toolCallChunks([call])));
    upstream.reply("/chat/completions", text("Found it."));
    await page.goto(app.url);
    await page.getByRole("textbox", { name: "Message" }).fill("Look it up");
    await page.getByRole("textbox", { name: "Message" }).press("Enter");
    await page.getByText("Found it.", { exact: true }).waitFor({ timeout: 10_000 });
    const got = service.got.findLast(({ url }) => url === "/items/own");
    expect(got?.headers).toMatchObject({ authorization: "Bearer sk-own-key-1", origin: app.url });
    // Their origins are named in the page's policy; everything else is still a mistake.
    const others = opened.problems.filter((problem) => !problem.includes(service.url));
    opened.problems.splice(0, Infinity, ...others);
  });
});
