import { expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

let app: App;
let ann: TestUser;

// Document 3, Persistence rules 2.
describeInterface("while nothing is stored", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    const env = { ENABLE_PERSISTENT_CONFIG: "false", RESPONSE_WATERMARK: "from the environment" };
    app = await keep(startApp({ env }));
    ann = await app.admin();
  });

  const valueOf = async (name: string) => {
    const { body } = await app.call("GET /api/v1/configs/settings", { token: ann.token });
    return (body as { name: string; value: unknown }[]).find((setting) => setting.name === name)?.value;
  };

  test("a changed setting says that it lasts until the server stops, and goes back", async () => {
    const changes = [{ name: "RESPONSE_WATERMARK", value: "for now" }];
    const changed = await app.call("PATCH /api/v1/configs/settings", { token: ann.token, body: { changes } });
    expect(changed.status).toBe(200);
    const { page } = await openPage({
      url: app.url,
      token: ann.token,
      path: "/admin/settings",
    });
    await write(page.getByRole("searchbox", { name: "Search all settings" }), "watermark");
    const line = page.locator('[data-variable="RESPONSE_WATERMARK"]');
    await line.getByRole("button", { name: "Until the server stops" }).click();
    const why = page.getByLabel(/^Where the value comes from/);
    await why.getByText("because ENABLE_PERSISTENT_CONFIG is off").waitFor();
    await expectNoAxeFindings(page);
    await why.getByRole("button", { name: "Use the environment's value" }).click();
    await page.getByRole("region", { name: "Changes" }).getByRole("button", { name: "Save" }).click();
    await expect.poll(() => valueOf("RESPONSE_WATERMARK")).toBe("from the environment");
    await line.getByRole("button", { name: /^Environment: where the value/ }).waitFor();
  });
});
