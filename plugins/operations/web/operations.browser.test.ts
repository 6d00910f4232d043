import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { defineRoute } from "#kernel/http/route.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { pick, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";

const wait = { timeout: 10_000 };
let runs = 0;

const brook = definePlugin({
  id: "brook",
  title: "Brook",
  summary: "Runs dry.",
  setup: () => ({
    routes: {
      api: [
        defineRoute({ method: "GET", path: "/brook", summary: "Fail", access: "user" }, () => {
          throw new Error("the brook ran dry");
        }),
      ],
    },
    jobs: [{ id: "brook.sweep", every: 3600, run: async () => void (runs += 1) }],
  }),
});

let app: App;
let token: string;
let folder: string;
let page: Page;

describeInterface("the pages of operations", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    folder = await createTestFolder({ "garbled/plugin.js": "export default {" });
    await keep({ close: () => removeTestFolder(folder) });
    const env = { PLUGINS_PATH: folder, PLUGINS_DISABLED: "feedback" };
    app = await keep(startApp({ env, plugins: [brook] }));
    ({ token } = await app.admin());
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token, path: "/admin/plugins" }));
  });

  const card = (name: string) => page.getByRole("article", { name, exact: true });
  const go = async (title: string) => {
    await page.getByRole("navigation", { name: "Administration" }).getByRole("link", { name: title }).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  };

  test("plugins are found, say what they bring, and those left out say why", async () => {
    await page.getByText("1 plugin could not be started").waitFor();
    await page.getByRole("button", { name: "Show why" }).click();
    await card("garbled")
      .getByText(/could not be loaded/)
      .waitFor();
    await card("Feedback").getByRole("button", { expanded: false }).click();
    await card("Feedback").getByText("PLUGINS_DISABLED=", { exact: true }).waitFor();
    await pick(page.getByRole("radio", { name: "All" }));
    await write(page.getByRole("searchbox", { name: "Search the plugins" }), "/api/v1/brook");
    await card("Brook").getByText("Runs dry.").waitFor();
    expect(await page.getByRole("article").count()).toBe(1);
    await card("Brook").getByRole("button", { expanded: false }).click();
    await card("Brook").getByText("PLUGINS_DISABLED=feedback,brook").waitFor();
    await card("Brook").getByText("Routes").click();
    await card("Brook").getByText("GET /api/v1/brook").waitFor();
    await expectNoAxeFindings(page);
  });

  test("a plugin with a switch is switched while the server runs", async () => {
    await write(page.getByRole("searchbox", { name: "Search the plugins" }), "folders");
    const toggle = card("Chat folders").getByRole("switch");
    await toggle.click();
    await card("Chat folders").getByText("Off", { exact: true }).waitFor();
    expect((await app.call("GET /api/v1/folders/", { token })).status).toBe(403);
    await toggle.click();
    await card("Chat folders").getByText("On", { exact: true }).waitFor();
    expect((await app.call("GET /api/v1/folders/", { token })).status).toBe(200);
  });

  test("a job runs when it is told to", async () => {
    await go("Jobs");
    await page.getByRole("button", { name: /Run now.*brook\.sweep/ }).click();
    await expect.poll(() => runs, wait).toBe(1);
    const row = page.getByRole("listitem").filter({ hasText: "brook.sweep" });
    await row.getByText("Done").waitFor({ timeout: 10_000 });
    await expectNoAxeFindings(page);
  });

  test("health is measured, and a failure is found by its reference, also on phones", async () => {
    await app.call("GET /api/v1/brook", { token, headers: { "x-request-id": "brook-7" } });
    await app.call("GET /api/v1/brook", { token, headers: { "x-request-id": "brook-8" } });
    await go("Health");
    await expect.poll(() => page.getByText("Works", { exact: true }).count(), wait).toBe(4);
    await page.getByText("Answers you").waitFor();
    await write(page.getByLabel("Reference"), "brook-7");
    const failures = page.getByRole("list", { name: "Recent failures" });
    await failures.getByText("the brook ran dry").first().waitFor();
    expect(await failures.getByRole("listitem").count()).toBe(1);
    await expectNoAxeFindings(page);
    for (const path of ["/admin/plugins", "/admin/jobs", "/admin/health"]) {
      const phone = await openPage({ url: app.url, token, path, size: "phone", theme: "dark" });
      await phone.page.getByRole("heading", { level: 1 }).waitFor();
      await phone.page
        .getByRole("main")
        .getByRole("listitem")
        .or(phone.page.getByRole("article"))
        .first()
        .waitFor();
      expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
      await expectNoAxeFindings(phone.page);
      await phone.close();
    }
  });
});
