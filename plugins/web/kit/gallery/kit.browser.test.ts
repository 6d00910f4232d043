import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

describeInterface("the kit", ({ setUp, openPage }) => {
  let dev: App;
  let prod: App;

  setUp(async (keep) => {
    [dev, prod] = await Promise.all([
      keep(startApp({ env: { ENV: "dev" } })),
      keep(startApp({ env: { ENV: "prod", WEBUI_SECRET_KEY: "turning-wheels-in-the-long-river-of-tests" } })),
    ]);
  });

  test("the kit is shown in both themes while the server runs for development, and nowhere else", async () => {
    const { token } = await dev.admin();
    const { page, close } = await openPage({ url: dev.url, token, path: "/kit" });
    await page.getByRole("heading", { name: "Kit", exact: true }).waitFor();
    await page.locator(".cm-content").last().waitFor();
    await page.locator("[data-theme=dark] .markdown table").waitFor();
    const colours = await page
      .locator("[role=group][data-theme]")
      .evaluateAll((panes) => new Set(panes.map((pane) => getComputedStyle(pane).backgroundColor)).size);
    expect(colours).toBe(2);
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Open a dialog" }).last().click();
    await expectNoAxeFindings(page, "[role=dialog]");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Open a menu" }).first().click();
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await expectNoAxeFindings(page, "[role=menu]");
    await close();

    const phone = await openPage({
      url: dev.url,
      token,
      path: "/kit",
      size: "phone",
      theme: "dark",
    });
    await phone.page.locator("[data-theme=light] .markdown table").waitFor();
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectNoAxeFindings(phone.page);
    await phone.close();

    const admin = await prod.admin();
    expect(
      (await prod.call("GET /kit", { token: admin.token, headers: { accept: "text/html" } })).status,
    ).toBe(404);
    const { body } = await prod.call("GET /api/v1/pages", { token: admin.token });
    expect(body.map(({ id }: { id: string }) => id)).not.toContain("web.kit");
    const manifest = JSON.parse(
      await readFile(new URL("../../dist/.vite/manifest.json", import.meta.url), "utf8"),
    ) as Record<string, { imports?: string[]; isEntry?: boolean }>;
    const first = new Set<string>();
    const follow = (name: string): void => {
      if (!first.has(name)) {
        first.add(name);
        manifest[name]?.imports?.forEach(follow);
      }
    };
    follow("index.html");
    expect(first.size).toBeGreaterThan(3);
    expect([...first].filter((name) => name.includes("gallery"))).toEqual([]);
  });
});
