import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage, type OpenPage } from "#test/support/interface.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let app: App;
let browser: Browser;
let web: Upstream;
let opened: OpenPage;
let page: Page;
let token: string;

describe.skipIf(chromiumPath === undefined)("the page of web search", () => {
  beforeAll(async () => {
    await buildInterface();
    web = await startUpstream();
    [app, browser] = await Promise.all([startApp(), openBrowser()]);
    token = (await app.admin()).token;
    opened = await openPage(browser, { url: app.url, token, path: "/admin/web-search", size: "phone" });
    page = opened.page;
  }, 120_000);

  afterAll(async () => {
    await opened?.close();
    await browser?.close();
    await app?.close();
    await web?.close();
  });

  const choose = async (label: string, option: string) => {
    await page.getByRole("combobox", { name: new RegExp(`^${label}`) }).click();
    await page.getByRole("option", { name: option }).click();
  };
  const stored = async (name: string) => {
    const { body } = await app.call("GET /api/v1/configs/settings", { token });
    return body.find((setting: { name: string }) => setting.name === name).value;
  };

  test("shows the fields of the chosen engine alone", async () => {
    await choose("Engine", "Google");
    await page.getByLabel("Id of the search engine").waitFor();
    expect(await page.getByLabel(/^Key/).count()).toBe(1);
    await choose("Engine", "External service");
    await page.getByLabel(/^Address/).waitFor();
    expect(await page.getByLabel("Id of the search engine").count()).toBe(0);
    await expectNoAxeFindings(page);
  });

  test("says what is wrong, then tries a search and shows the answer", async () => {
    await page.getByLabel(/^Address/).fill(`${web.origin}/search`);
    await page.getByLabel(/^Key/).fill("secret-key");
    web.reply(() => true, json({}, { status: 401 }));
    await page.getByLabel("Try a search").fill("water mill");
    await page.getByRole("button", { name: "Save and try" }).click();
    await page.getByText("The external search refused the request (401). Is its key right?").waitFor();
    expect(await stored("WEB_SEARCH_ENGINE")).toBe("external");
    await page.getByText("A key is stored. Type to replace it.").waitFor();
    expect(await page.content()).not.toContain("secret-key");

    web.always(
      () => true,
      json([{ title: "A wheel", link: "https://mill.example/wheel", snippet: "It turns." }]),
    );
    await page.getByRole("button", { name: "Try", exact: true }).click();
    await page.getByRole("link", { name: "A wheel" }).waitFor();
    await page.getByText("It turns.").waitFor();
    expect(web.requests.at(-1)?.headers["authorization"]).toBe("Bearer secret-key");
    await expectNoAxeFindings(page);
  });

  test("stores switches and lists together, and the chat then offers web search", async () => {
    await page.getByRole("switch", { name: "Web search" }).click();
    await page.getByLabel("Sites", { exact: true }).fill("mill.example, !ads.example");
    await page.getByRole("switch", { name: "Ask people before each search" }).click();
    await page.getByLabel("What people should know").fill("Queries leave the house.");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(() => stored("ENABLE_WEB_SEARCH"), { timeout: 10_000 }).toBe(true);
    expect(await stored("WEB_SEARCH_DOMAIN_FILTER_LIST")).toEqual(["mill.example", "!ads.example"]);
    expect(await stored("WEB_SEARCH_CONFIRMATION_CONTENT")).toBe("Queries leave the house.");
    expect(await page.getByRole("button", { name: "Save", exact: true }).count()).toBe(0);
  });
});
