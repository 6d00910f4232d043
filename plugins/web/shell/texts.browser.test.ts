import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage } from "#test/support/interface.ts";
import { corpus, ranMark } from "../kit/markdown/corpus.fixture.ts";

const slow = 120_000;
const pleasant = "Ask **Ada** on [the board](https://board.example).\n\n- Monday\n- Friday";
let app: App;
let browser: Browser;

beforeAll(async () => {
  if (chromiumPath) {
    await buildInterface();
    app = await startApp({
      env: {
        PENDING_USER_OVERLAY_TITLE: "<b>Soon</b>",
        PENDING_USER_OVERLAY_CONTENT: [pleasant, ...corpus].join("\n\n").toWellFormed(),
      },
    });
    browser = await openBrowser();
  }
}, slow);

afterAll(async () => {
  await browser?.close();
  await app?.close();
});

const hasRun = (page: Page) => page.evaluate((mark) => mark in globalThis, ranMark);

test.skipIf(!chromiumPath)(
  "the pending page and banners show markup of administrators and nothing that acts (S83)",
  async () => {
    const { token } = await app.admin();
    const pending = await app.user("pending");
    const waiting = await openPage(browser, {
      url: app.url,
      token: pending.token,
      size: "phone",
      theme: "dark",
    });
    await waiting.page.getByRole("heading", { name: "<b>Soon</b>" }).waitFor();
    await waiting.page.locator("strong", { hasText: "Ada" }).waitFor();
    expect(await waiting.page.getByRole("link", { name: "the board" }).getAttribute("rel")).toMatch(
      /noopener/,
    );
    expect(await waiting.page.locator("li", { hasText: "Monday" }).count()).toBe(1);
    expect(await hasRun(waiting.page)).toBe(false);
    await waiting.close();

    const banner = { type: "info", title: "Maintenance", dismissible: true, timestamp: 1 };
    const banners = [
      { ...banner, id: "a", content: pleasant },
      { ...banner, id: "b", content: corpus.join("\n\n").toWellFormed() },
    ];
    const { status } = await app.call("POST /api/v1/configs/banners", { token, body: { banners } });
    expect(status).toBe(200);
    const { page, close } = await openPage(browser, { url: app.url, token });
    const shown = page.getByRole("region", { name: "Announcements" });
    await shown.locator("strong", { hasText: "Ada" }).waitFor();
    expect(
      await shown.locator("script, form, input, style, iframe:not([sandbox=allow-scripts])").count(),
    ).toBe(0);
    expect(await hasRun(page)).toBe(false);
    await shown.getByRole("button", { name: "Dismiss" }).last().click();
    await expectNoAxeFindings(page);
    await close();
  },
  slow,
);
