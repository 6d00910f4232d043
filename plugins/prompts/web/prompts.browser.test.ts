import { expect, test } from "vitest";
import { grant, permit, requireOk, as } from "#plugins/workspace-tools/tools.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { type, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

describeInterface("prompts", ({ setUp, openPage }) => {
  let app: App;
  let author: TestUser;
  let colleague: TestUser;

  setUp(async (keep) => {
    app = await keep(startApp());
    [author, colleague] = [await app.user(), await app.user()];
    await permit(app, [author], { workspace: { prompts: true, prompts_export: true } });
  });

  const call = (route: string, body?: unknown) => requireOk(as(app, author)(route, body));

  test("before there is any, the character of prompts leads to the first", async () => {
    const { page } = await openPage({ url: app.url, token: author.token });
    const field = page.getByRole("textbox", { name: "Message" });
    await type(field, "/");
    await page.getByRole("option", { name: /New prompt/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/workspace\/new-prompt$/);
    // Those who may write none are not led there.
    const other = await openPage({ url: app.url, token: colleague.token });
    await type(other.page.getByRole("textbox", { name: "Message" }), "/x");
    await other.page.getByText("Nothing fits.").waitFor();
  });

  test("a prompt is written, tried with its inputs, kept as a draft, put into use and used by a colleague", async () => {
    const { page, close } = await openPage({
      url: app.url,
      path: "/workspace/prompts",
      token: author.token,
    });
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await page.getByText("Nothing here yet.").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("link", { name: "New prompt" }).click();
    await write(page.getByLabel("Name", { exact: true }), "Translate a letter");
    expect(await page.getByLabel("Command", { exact: true }).inputValue()).toBe("translate-a-letter");
    await write(
      page.getByRole("textbox", { name: "Text", exact: true }),
      'Into {{language | select:options=["Dutch","Welsh"]:default="Dutch"}}: {{text | text:required}}',
    );
    await page.getByText("Still missing: text").waitFor();
    await write(page.getByLabel("text", { exact: true }).last(), "Good day");
    await page.getByLabel("text", { exact: true }).last().blur();
    await page.getByRole("region", { name: "Preview" }).getByText("Into Dutch: Good day").waitFor();
    await button("Try it").click();
    await page
      .getByRole("region", { name: "Answer of the model" })
      .getByText(/\w{3,}/)
      .first()
      .waitFor();
    await expectNoAxeFindings(page);
    await button("Save").click();
    await page.waitForURL(/\/workspace\/prompt\/[\w-]+$/);
    const id = page.url().split("/").at(-1) as string;

    // A draft leaves what is in use as it is, until it is put into use.
    await write(page.getByRole("textbox", { name: "Text", exact: true }), "Say {{word}} in Welsh");
    await write(page.getByLabel("What changed"), "Shorter");
    await button("Save as draft").click();
    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("button", { name: /Shorter/ }).waitFor();
    expect((await call(`GET /api/v1/prompts/id/${id}`)).body.content).toContain("Into");
    await page.getByRole("button", { name: /Shorter/ }).click();
    await page.getByText("Nothing changed.").waitFor();
    await page.getByRole("button", { name: "Put it into use" }).click();
    await page.getByRole("button", { name: /Shorter.*in use/s }).waitFor();
    expect((await call(`GET /api/v1/prompts/id/${id}`)).body.content).toBe("Say {{word}} in Welsh");
    await close();

    await call(`POST /api/v1/prompts/id/${id}/access/update`, { access_grants: [grant(colleague, "read")] });
    const theirs = await openPage({ url: app.url, token: colleague.token, size: "phone" });
    const field = theirs.page.getByRole("textbox", { name: /message/i }).first();
    await field.click();
    await type(field, "/trans");
    await theirs.page.getByRole("option", { name: /translate-a-letter/ }).click();
    const dialog = theirs.page.getByRole("dialog", { name: "Translate a letter" });
    await write(dialog.getByLabel("word"), "wheel");
    await expectNoAxeFindings(theirs.page);
    await dialog.getByRole("button", { name: "Put it into the message" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await field.inputValue()).toBe("Say wheel in Welsh");
  });
});
