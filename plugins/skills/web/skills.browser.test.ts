import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { as, grant, permit, requireOk } from "#plugins/workspace-tools/tools.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { type, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

describeInterface("skills", ({ setUp, openPage }) => {
  let app: App;
  let author: TestUser;
  let colleague: TestUser;

  setUp(async (keep) => {
    app = await keep(startApp());
    [author, colleague] = [await app.user(), await app.user()];
    await permit(app, [author], { workspace: { skills: true, skills_import: true } });
  });

  const call = (route: string, body?: unknown) => requireOk(as(app, author)(route, body));

  test("a skill is imported, changed, given files, attached to a model and mentioned by a colleague", async () => {
    const { page, close } = await openPage({
      url: app.url,
      path: "/workspace/skills",
      token: author.token,
    });
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await page.getByText("Nothing here yet.").waitFor();
    await expectNoAxeFindings(page);
    const zip = (entries: Record<string, Uint8Array>) => ({
      name: "skill.zip",
      mimeType: "application/zip",
      buffer: Buffer.from(zipSync(entries)),
    });
    const main = strToU8("---\nname: Tide tables\ndescription: Reads tides\n---\nRead the table.");
    const archive = page.getByLabel("Archive to import");
    await archive.setInputFiles(zip({ "SKILL.md": main, "../evil.txt": main }));
    await page.getByText("Nothing was imported.").waitFor();
    await archive.setInputFiles(
      zip({ "tide-tables/SKILL.md": main, "tide-tables/data/t.csv": strToU8("1,2") }),
    );
    await page.waitForURL(/\/workspace\/skill\/tide-tables$/);
    await write(page.getByLabel("Instructions"), "Read the **whole** table.");
    await page.getByRole("region", { name: "Preview" }).getByText("whole").waitFor();
    await write(page.getByLabel("Question"), "When is high water?");
    await button("Try it").click();
    await page
      .getByRole("region", { name: "Answer of the model" })
      .getByText(/\w{3,}/)
      .first()
      .waitFor();
    await button("Save").click();
    await page.getByText("Saved", { exact: true }).waitFor();
    expect((await call("GET /api/v1/skills/id/tide-tables")).body.content).toBe("Read the **whole** table.");
    await page.getByRole("tab", { name: "Files" }).click();
    await page
      .getByLabel("Files to add")
      .setInputFiles({ name: "b.txt", mimeType: "text/plain", buffer: Buffer.from("six") });
    await page.getByRole("button", { name: "b.txt", exact: true }).click();
    await page.getByRole("dialog", { name: "b.txt" }).getByText("six").waitFor();
    await expectNoAxeFindings(page);
    await close();

    const access_grants = [grant(colleague, "read")];
    await call("POST /api/v1/skills/id/tide-tables/access/update", { access_grants });
    const theirs = await openPage({
      url: app.url,
      path: "/workspace/skill/tide-tables",
      token: colleague.token,
      size: "phone",
    });
    await theirs.page.getByText("You may use this skill, and not change it.").waitFor();
    await expectNoAxeFindings(theirs.page);
    await theirs.page.goto(`${app.url}/`);
    const field = theirs.page.getByRole("textbox", { name: /message/i }).first();
    await field.click();
    await type(field, "$tide");
    await theirs.page.getByRole("option", { name: /Tide tables/ }).click();
    expect(await field.inputValue()).toBe("<$tide-tables|Tide tables> ");
  });
});
