import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

describe.skipIf(chromiumPath === undefined)("the first page in a browser (needs Chromium)", () => {
  let app: App;
  let upstream: Upstream;
  let browser: Browser;

  beforeAll(async () => {
    upstream = await startUpstream();
    upstream.models = ["real-model"];
    upstream.always("/chat/completions", text("Good day"));
    app = await startApp();
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await upstream?.close();
  });

  it("makes the first admin, a key and a connection, and answers from both models", async () => {
    const page = await browser.newPage();
    const foreign: string[] = [];
    const failures: string[] = [];
    page.on("request", (request) => request.url().startsWith(app.url) || foreign.push(request.url()));
    page.on("pageerror", (error) => failures.push(error.message));
    await page.goto(app.url);

    await page.fill("#sign-up [name=name]", "Ana");
    await page.fill("#sign-up [name=email]", "ana@example.test");
    await page.fill("#sign-up [name=password]", "Correct-horse-1");
    await page.click("#sign-up button");
    await page.waitForSelector("#connect:not([hidden])");
    expect(await page.textContent("#who")).toBe("Ana (admin)");

    await page.click("#make-key");
    await page.waitForSelector("#key-shown:not([hidden])");
    const key = (await page.textContent("#key-value")) ?? "";
    expect(key).toMatch(/^sk-[0-9a-f]{64}$/);
    expect((await app.call("GET /api/models", { token: key })).status).toBe(200);

    await page.click("#ask button");
    await page.waitForFunction(() =>
      document.getElementById("answer")?.textContent?.includes("OPENAI_API_BASE_URLS"),
    );

    await page.fill("#connect [name=url]", upstream.url);
    await page.fill("#connect [name=key]", "upstream-key");
    await page.click("#connect button[value=save]");
    await page.waitForSelector("#models option[value=real-model]", { state: "attached" });
    await page.selectOption("#models", "real-model");
    await page.click("#ask button");
    await page.waitForFunction(() => document.getElementById("answer")?.textContent === "Good day");

    await page.click("#sign-out");
    await page.waitForSelector("#sign-in:not([hidden])");
    await page.fill("#sign-in [name=email]", "ana@example.test");
    await page.fill("#sign-in [name=password]", "wrong");
    await page.click("#sign-in button");
    await page.waitForSelector("#status.bad");
    expect({ foreign, failures }).toEqual({ foreign: [], failures: [] });
  });

  it("has the password typed twice where ENABLE_SIGNUP_PASSWORD_CONFIRMATION asks for it", async () => {
    const careful = await startApp({ env: { ENABLE_SIGNUP_PASSWORD_CONFIRMATION: "true" } });
    const page = await browser.newPage();
    await page.goto(careful.url);
    await page.fill("#sign-up [name=name]", "Ana");
    await page.fill("#sign-up [name=email]", "ana@example.test");
    await page.fill("#sign-up [name=password]", "Correct-horse-1");
    await page.fill("#sign-up [name=again]", "Correct-horse-2");
    await page.click("#sign-up button");
    await page.waitForSelector("#status.bad");
    expect(await page.textContent("#status")).toBe("The two passwords are not the same.");
    await page.fill("#sign-up [name=again]", "Correct-horse-1");
    await page.click("#sign-up button");
    await page.waitForSelector("#connect:not([hidden])");
    await careful.close();
  });

  it("asks nobody to sign in whom a proxy vouches for, and nobody where there are no accounts", async () => {
    const vouched = await startApp({ env: { WEBUI_AUTH_TRUSTED_EMAIL_HEADER: "x-email" } });
    const open = await startApp({ env: { WEBUI_AUTH: "false" } });
    const person = await browser.newPage({ extraHTTPHeaders: { "x-email": "ana@example.test" } });
    const anybody = await browser.newPage();
    for (const [page, url] of [[person, vouched.url] as const, [anybody, open.url] as const]) {
      await page.goto(url);
      await page.waitForSelector("#connect:not([hidden])");
    }
    expect(await person.textContent("#who")).toBe("ana@example.test (admin)");
    expect(await anybody.textContent("#who")).toBe("Admin (admin)");
    await Promise.all([vouched.close(), open.close()]);
  });
});
