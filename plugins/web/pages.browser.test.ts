import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";

const declaration = `
import { definePlugin } from "#kernel/plugin.ts";
import { defineSocketHandler } from "#kernel/sockets/handler.ts";

export default definePlugin({
  id: "tide",
  title: "Tide",
  pages: [
    { id: "tide", path: "/tide", title: "Tide & <b>time</b>", place: "main", order: 1, access: "user" },
    { id: "tide.broken", path: "/tide/broken", title: "Broken", place: "main", order: 2, access: "user" },
    { id: "tide.slow", path: "/tide/slow", title: "Slow", place: "main", order: 3, access: "user" },
    { id: "tide.keeper", path: "/tide/keeper", title: "Keeper", place: "admin", access: "admin" },
    { id: "tide.deep", path: "/tide/deep", title: "Deep", place: "hidden", access: "user" },
  ],
  setup: () => ({ sockets: { "tide:ask": defineSocketHandler({}, ({ caller }) => ({ level: caller.name.length })) } }),
});
`;

/** Uses everything that a page is given. */
const tide = `
export async function mount(element, { client, session, socket, navigate, theme, t }) {
  const { data } = await client.call("GET /api/models");
  const { level } = await socket.emit("tide:ask");
  element.id = "tide";
  element.textContent = [session.name, session.role, data[0].id, level, theme, t("high")].join(" ");
  const button = Object.assign(document.createElement("button"), { textContent: "Deep", id: "to-deep" });
  button.addEventListener("click", () => navigate("/tide/deep"));
  element.append(button);
  return () => document.body.setAttribute("data-cleaned", "tide");
}
`;

const modules = {
  "tide/plugin.ts": declaration,
  "tide/web/tide.js": tide,
  "tide/web/tide.broken.js": `export function mount() { throw new Error("the sea <b>rose</b>"); }`,
  "tide/web/tide.slow.js": `export async function mount(element) {
    await new Promise((resolve) => window.release = resolve);
    element.id = "slow";
    return () => document.body.setAttribute("data-cleaned", "slow");
  }`,
  "tide/web/tide.deep.js": `export const mount = (element) => void (element.textContent = "deep water");`,
  "tide/web/tide.keeper.js": `export const mount = (element) => void (element.textContent = "keeper");`,
};

describe.skipIf(chromiumPath === undefined)("pages of plugins on the start page (needs Chromium)", () => {
  let folder: string;
  let app: App;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    folder = await createTestFolder(modules);
    [app, browser] = await Promise.all([startApp({ env: { PLUGINS_PATH: folder } }), openBrowser()]);
    await app.admin();
    page = await browser.newPage({ colorScheme: "dark" });
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => request.url().startsWith(app.url) || problems.push(request.url()));
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await removeTestFolder(folder);
  });

  const signIn = async (email: string) => {
    await page.fill("#sign-in [name=email]", email);
    await page.fill("#sign-in [name=password]", "Correct-horse-1");
    await page.click("#sign-in button");
  };
  const links = () => page.locator("#pages a").allTextContents();
  const frame = () => page.textContent("#page-frame");

  it("links what the person may open, with titles as text", async () => {
    const { email } = await app.user();
    await page.goto(app.url);
    await signIn(email);
    await page.waitForSelector("#pages a");
    expect(await links()).toEqual(["Start", "Tide & <b>time</b>", "Broken", "Slow"]);
  });

  it("mounts a page with its client, session, socket, theme and texts, without loading the document anew", async () => {
    await page.evaluate(() => document.body.setAttribute("data-document", "first"));
    await page.click("#pages a[href='/tide']");
    await page.waitForSelector("#tide");
    expect(await page.textContent("#page-title")).toBe("Tide & <b>time</b>");
    expect(await frame()).toBe("Person 1 user guide 8 dark highDeep");
    expect(new URL(page.url()).pathname).toBe("/tide");
    expect(await page.locator("#ask").isHidden()).toBe(true);
    expect(await page.getAttribute("body", "data-document")).toBe("first");
  });

  it("lets a page navigate, cleans up after it, and goes back as browsers do", async () => {
    await page.click("#to-deep");
    await page.waitForFunction(() => document.querySelector("#page-frame")?.textContent === "deep water");
    expect(await page.getAttribute("body", "data-cleaned")).toBe("tide");
    await page.goBack();
    await page.waitForSelector("#tide");
    expect(await page.getAttribute("#pages a[href='/tide']", "aria-current")).toBe("page");
  });

  it("shows the error of a page that throws in its place, and goes on living", async () => {
    await page.click("#pages a[href='/tide/broken']");
    await page.waitForSelector("#page-frame [role=alert]");
    expect(await frame()).toBe("The page “Broken” could not be shown: the sea <b>rose</b>");
    await page.click("#pages a[href='/']");
    await page.waitForSelector("#ask:not([hidden])");
    expect(await frame()).toBe("");
  });

  it("drops a page that was still loading when the person went on", async () => {
    await page.click("#pages a[href='/tide/slow']");
    await page.waitForFunction(() => "release" in window);
    await page.click("#pages a[href='/tide']");
    await page.waitForSelector("#tide");
    await page.evaluate(() => (window as unknown as { release(): void }).release());
    await page.waitForSelector("body[data-cleaned=slow]");
    expect(await page.locator("#slow").count()).toBe(0);
  });

  it("opens a page by its address, after signing in when needed, and says so where there is none", async () => {
    await page.goto(`${app.url}/tide/deep`);
    await page.waitForFunction(() => document.querySelector("#page-frame")?.textContent === "deep water");
    await page.goto(`${app.url}/tide/keeper`);
    await page.waitForSelector("#status.bad");
    expect(await page.textContent("#status")).toBe("There is no page here that you may open.");
    await page.click("#sign-out");
    await page.waitForSelector("#sign-in:not([hidden])");
    expect(await page.locator("#pages a").count()).toBe(0);
    await signIn((await app.admin()).email);
    await page.waitForFunction(() => document.querySelector("#page-frame")?.textContent === "keeper");
    expect(await links()).toEqual(["Start", "Tide & <b>time</b>", "Broken", "Slow", "Keeper"]);
    expect(problems).toEqual([]);
  });
});
