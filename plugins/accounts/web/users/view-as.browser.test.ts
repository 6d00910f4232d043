import { expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

let app: App;
let admin: TestUser;

describeInterface("viewing as somebody", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    app = await keep(startApp());
    admin = await app.admin();
  });

  test("views the platform as somebody, changes nothing, and comes back", async () => {
    const viewed = await app.user();
    const { name } = (await app.call(`GET /api/v1/users/${viewed.id}`, { token: admin.token })).body;
    const note = { title: "Of the mill", data: { content: { md: "The **wheel** turns." } } };
    const { body } = await app.call("POST /api/v1/notes/create", { token: viewed.token, body: note });
    const { page } = await openPage({ url: app.url, token: admin.token, path: "/admin/users" });
    const button = (label: string) => page.getByRole("button", { name: label, exact: true });
    await button(`Actions for ${name}`).click();
    await page.getByRole("menuitem", { name: `View as ${name}` }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: `View as ${name}` })
      .press("Enter");
    const bar = page.getByRole("region", { name: "View as another account", exact: true });
    await bar.getByText(`You are viewing as ${name}. Nothing can be changed.`).waitFor();
    expect(await page.getByRole("link", { name: "Administration" }).count()).toBe(0);
    await page.goto(`${app.url}/notes/${body.id}`);
    await page.getByText("Read only").waitFor();
    await page.locator("strong", { hasText: "wheel" }).waitFor();
    await expectNoAxeFindings(page);
    await page.goto(`${app.url}/notes`);
    await button("New note").click();
    await page.getByText(/nothing can be changed, and no secret is shown/).waitFor();
    await bar.getByRole("button", { name: "Back to my account" }).click();
    await page.waitForURL(`**/admin/users/${viewed.id}`);
    await page.getByText(viewed.email).first().waitFor();
    expect(await bar.count()).toBe(0);
  });
});
