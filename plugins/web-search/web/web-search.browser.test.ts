import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { choose, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let app: App;
let web: Upstream;
let page: Page;
let token: string;

describeInterface("the page of web search", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    web = await keep(startUpstream());
    app = await keep(startApp());
    token = (await app.admin()).token;
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token, path: "/admin/web-search", size: "phone" }));
  });

  const stored = async (name: string) => {
    const { body } = await app.call("GET /api/v1/configs/settings", { token });
    return body.find((setting: { name: string }) => setting.name === name).value;
  };

  test("shows the fields of the chosen engine alone", async () => {
    await choose(page, "Search engine", "Google");
    await page.getByLabel("Id of the search engine").waitFor();
    expect(await page.getByLabel(/^Key/).count()).toBe(1);
    await choose(page, "Search engine", "External service");
    await page.getByLabel(/^Address/).waitFor();
    expect(await page.getByLabel("Id of the search engine").count()).toBe(0);
    await expectNoAxeFindings(page);
  });

  test("says what is wrong, then tries a search and shows the answer", async () => {
    await choose(page, "Search engine", "External service");
    await write(page.getByLabel(/^Address/), `${web.origin}/search`);
    await write(page.getByLabel(/^Key/), "secret-key");
    web.reply(() => true, json({}, { status: 401 }));
    await write(page.getByLabel("Try a search"), "water mill");
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
    await write(page.getByLabel("Sites", { exact: true }), "mill.example, !ads.example");
    await page.getByRole("switch", { name: "Ask people before each search" }).click();
    await write(page.getByLabel("What people should know"), "Queries leave the house.");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(() => stored("ENABLE_WEB_SEARCH"), { timeout: 10_000 }).toBe(true);
    expect(await stored("WEB_SEARCH_DOMAIN_FILTER_LIST")).toEqual(["mill.example", "!ads.example"]);
    expect(await stored("WEB_SEARCH_CONFIRMATION_CONTENT")).toBe("Queries leave the house.");
    expect(await page.getByRole("button", { name: "Save", exact: true }).count()).toBe(0);
  });
});
