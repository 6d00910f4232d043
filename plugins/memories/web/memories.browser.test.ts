import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

describeInterface("the page of memories", ({ setUp, openPage }) => {
  let app: App;

  setUp(async (keep) => {
    app = await keep(startApp());
  });

  test("adds, changes, finds, forgets and takes back", async () => {
    const { token } = await app.admin();
    const { page } = await openPage({ url: app.url, token, path: "/settings/memories" });
    await page.getByText("Nothing is remembered yet.").waitFor();
    const use = page.getByRole("switch", { name: "Use memories in chats" });
    await use.click();
    await expect
      .poll(async () => (await app.call("GET /api/v1/users/user/settings", { token })).body?.ui?.memory)
      .toBe(true);

    await page.getByRole("button", { name: "Add a memory" }).click();
    const dialog = page.getByRole("dialog");
    await write(dialog.getByRole("textbox", { name: "To remember" }), "Builds a water mill");
    await dialog.getByText("Your work", { exact: true }).click();
    await write(dialog.getByRole("textbox", { name: "Place" }), "work/mill");
    await expectNoAxeFindings(page, "[role=dialog]");
    await dialog.getByRole("button", { name: "Save" }).click();
    const about = page.getByRole("region", { name: "About your work" });
    await about.getByText("Builds a water mill").waitFor();
    await about.getByText("work/mill").waitFor();

    await page.getByRole("button", { name: "Actions for “Builds a water mill”" }).click();
    await page.getByRole("menuitem", { name: "Change" }).click();
    await write(dialog.getByRole("textbox", { name: "To remember" }), "Builds a windmill");
    await dialog.getByRole("button", { name: "Save" }).click();
    await about.getByText("Builds a windmill").waitFor();
    await write(page.getByRole("searchbox", { name: "Search memories" }), "boat");
    await page.getByText("No memory matches.").waitFor();
    await write(page.getByRole("searchbox", { name: "Search memories" }), "wind");
    await expectNoAxeFindings(page);

    await page.getByRole("button", { name: "Actions for “Builds a windmill”" }).click();
    await page.getByRole("menuitem", { name: "Forget" }).click();
    await page.getByText("Nothing is remembered yet.").waitFor();
    await page
      .getByRole("list", { name: "Recent changes" })
      .getByRole("button", { name: "Undo" })
      .first()
      .click();
    await about.getByText("Builds a windmill").waitFor();

    await page.getByRole("button", { name: "Forget everything" }).click();
    await page.getByRole("alertdialog").or(dialog).getByRole("button", { name: "Forget everything" }).click();
    await page.getByText("Nothing is remembered yet.").waitFor();
    expect((await app.call("GET /api/v1/memories/", { token })).body).toEqual([]);
  });
});
