import { expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { choose, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { as, grant, permit, requireOk } from "../tools.fixture.ts";

describeInterface("workspace tools", ({ setUp, openPage }) => {
  let app: App;
  let author: TestUser;
  let colleague: TestUser;

  setUp(async (keep) => {
    app = await keep(startApp());
    [author, colleague] = [await app.user(), await app.user()];
    await permit(app, [author, colleague], { workspace: { tools: true }, sharing: { tools: true } });
  });

  const call = (route: string, body?: unknown) => requireOk(as(app, author)(route, body));

  test("a template is tried with a form, saved, mended where it fails, and used by a colleague who sees no code", async () => {
    const { page, close } = await openPage({
      url: app.url,
      path: "/workspace/tools",
      token: author.token,
    });
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await page.getByRole("heading", { name: "Nothing here yet. Begin with a template." }).waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("link", { name: /Convert units/ }).click();
    await write(page.getByLabel("value"), "12");
    await choose(page, "from", /^km$/);
    await choose(page, "to", /^mi$/);
    await button("Call it").click();
    await page.getByRole("region", { name: "Result of the call" }).getByText('"value": 7.456').waitFor();
    await expectNoAxeFindings(page);
    await choose(page, "to", /^kg$/);
    await button("Call it").click();
    await page.getByText("km is a length and kg a weight.", { exact: true }).waitFor();
    await button("Save").click();
    await page.waitForURL(/convert_units$/);
    await page.getByText("Saved, version 1").waitFor();

    // Code that does not load is named with its place, and nothing is stored.
    await page.getByRole("textbox", { name: "Code of the tool" }).click();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.insertText("export const x = ;");
    await page.getByText("The code does not load.").waitFor();
    await button("Save").click();
    await page.getByText("Not saved. What is stored stays as it is.").waitFor();
    expect((await call("GET /api/v1/tools/id/convert_units")).body.version_id).toBe("1");
    await close();

    await call("POST /api/v1/tools/id/convert_units/access/update", {
      access_grants: [grant(colleague, "read")],
    });
    const theirs = await openPage({
      url: app.url,
      path: "/workspace/tools",
      token: colleague.token,
    });
    await theirs.page.getByText("Shared with you", { exact: true }).waitFor();
    await theirs.page.getByRole("link", { name: "Convert units", exact: true }).first().click();
    await theirs.page.getByText("You may use this tool, and not change it.").waitFor();
    expect(await theirs.page.getByRole("textbox", { name: "Code of the tool" }).count()).toBe(0);
    await expectNoAxeFindings(theirs.page);
  });
});
