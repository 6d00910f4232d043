import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { corpus, ranMark } from "../kit/markdown/corpus.fixture.ts";

const pleasant = "Ask **Ada** on [the board](https://board.example).\n\n- Monday\n- Friday";
describeInterface("texts of administrators", ({ setUp, openPage }) => {
  let app: App;

  setUp(async (keep) => {
    app = await keep(
      startApp({
        env: {
          PENDING_USER_OVERLAY_TITLE: "<b>Soon</b>",
          PENDING_USER_OVERLAY_CONTENT: [pleasant, ...corpus].join("\n\n").toWellFormed(),
        },
      }),
    );
  });

  const hasRun = (page: Page) => page.evaluate((mark) => mark in globalThis, ranMark);

  test("the pending page and banners show markup of administrators and nothing that acts (S83)", async () => {
    const { token } = await app.admin();
    const pending = await app.user("pending");
    const waiting = await openPage({
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
    expect((await app.call("POST /api/v1/configs/banners", { token, body: { banners } })).status).toBe(200);
    const { page } = await openPage({ url: app.url, token });
    const shown = page.getByRole("region", { name: "Announcements" });
    await shown.locator("strong", { hasText: "Ada" }).waitFor();
    expect(
      await shown
        .locator(
          "script, form, input:not([type=checkbox]:disabled), style, iframe:not([sandbox=allow-scripts])",
        )
        .count(),
    ).toBe(0);
    expect(await hasRun(page)).toBe(false);
    await shown.getByRole("button", { name: "Dismiss" }).last().click();
    await expectNoAxeFindings(page);
  });
});
