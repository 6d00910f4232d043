import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeEach, expect, test, vi } from "vitest";
import type { App } from "#test/support/app.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { pick } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { called, witness } from "../../usage.fixture.ts";

const hourMs = 3_600_000;

let platform: AppWithUpstream;
let app: App;
let token: string;
let page: Page;

describeInterface("the page of analytics", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    platform = await keep(startAppWithUpstream({ models: ["alpha", "beta"], plugins: [witness] }));
    ({ app } = platform);
    ({ token } = await app.admin());
    const ann = await app.user();
    const prices = { input: 2, output: 10, currency: "EUR" };
    await app.call("GET /api/models?refresh=true", { token });
    const record = { id: "alpha", name: "Alpha", base_model_id: null, meta: { prices }, params: {} };
    expect((await app.call("POST /api/v1/models/create", { token, body: record })).status).toBe(200);
    for (let day = 0; day < 20; day += 1) {
      const at = Date.now() - day * 24 * hourMs;
      called({ by: ann.id, at, model: "alpha", input: 400_000 + day * 20_000, output: 50_000 });
      called({ by: ann.id, at, model: "beta", input: 100_000, output: 5_000 });
    }
    const group = (
      await app.call("POST /api/v1/groups/create", { token, body: { name: "Millers", description: "" } })
    ).body;
    await app.call(`POST /api/v1/groups/id/${group.id}/users/add`, { token, body: { user_ids: [ann.id] } });
    const count = async () =>
      (await app.call("GET /api/v1/analytics/summary", { token })).body.total_messages;
    await vi.waitFor(async () => expect(await count()).toBe(40), 10_000);
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token, path: "/admin/analytics" }));
  });

  const section = (name: string) => page.getByRole("region", { name, exact: true });

  test("shows tokens and costs by day, model, person and group, and what has no price", async () => {
    await section("By model").getByText("alpha").waitFor();
    await section("By group").getByText("Millers").waitFor();
    await pick(page.getByRole("radio", { name: "Cost" }));
    await page.getByText("20 calls of models without prices are left out.").waitFor();
    // 20 × (0.4 + …) million tokens in at 2, and a million out at 10.
    await section("By model").getByText("€33.60").waitFor();
    const chart = section("By day").getByRole("img", { name: "By day" });
    expect(await chart.locator("rect").count()).toBe(20);
    const box = await chart.boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) - 6, (box?.y ?? 0) + 100);
    await section("By day").getByText("€1.30").waitFor();
    await expectNoAxeFindings(page);
  });

  test("has the numbers as a table and as a file", async () => {
    await section("By model").getByRole("button", { name: "Show as table" }).click();
    const row = section("By model").getByRole("row", { name: /^beta/ });
    expect(await row.getByRole("cell").allTextContents()).toContain("2,100,000");
    const saved = page.waitForEvent("download");
    await section("By model").getByRole("button", { name: "Save as CSV" }).click();
    const text = await readFile(await (await saved).path(), "utf8");
    expect(text.split("\r\n")[0]).toBe(
      "model,name,calls,failed,input_tokens,cached_tokens,output_tokens,mean_ms,cost_EUR",
    );
    expect(text).toMatch(/^alpha,,20,0,11800000,/m);
    await expectNoAxeFindings(page);
  });

  test("fits phones", async () => {
    const phone = await openPage({
      url: app.url,
      token,
      path: "/admin/analytics",
      size: "phone",
      theme: "dark",
    });
    await phone.page.getByRole("region", { name: "By model" }).getByText("alpha").waitFor();
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectNoAxeFindings(phone.page);
  });
});
