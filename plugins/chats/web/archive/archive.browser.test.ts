import { expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

const script = "<img src=x onerror=alert(1)>";
describeInterface("the archive of chats", ({ setUp, openPage }) => {
  let app: App;

  setUp(async (keep) => {
    app = await keep(startApp());
  });

  async function archive({ token }: TestUser, title: string): Promise<string> {
    const made = await app.call("POST /api/v1/chats/new", {
      token,
      body: { chat: { title, models: [], messages: [] } },
    });
    const done = await app.call(`POST /api/v1/chats/${made.body.id}/archive`, { token });
    expect([made.status, done.status]).toEqual([200, 200]);
    return made.body.id;
  }

  async function archived({ token }: TestUser): Promise<string[]> {
    const { body } = await app.call("GET /api/v1/chats/archived", { token });
    return body.map(({ title }: { title: string }) => title).toSorted();
  }

  test("archived chats are searched, brought back and deleted, each with undo", async () => {
    const admin = await app.admin();
    await archive(admin, "Boats");
    await archive(admin, "Rivers");
    await archive(admin, script);
    const { page } = await openPage({ url: app.url, token: admin.token, path: "/archived" });
    const main = page.getByRole("main");
    const row = (title: string) => main.getByRole("listitem").filter({ hasText: title });
    const undo = page.getByRole("button", { name: "Undo" });
    await row(script).waitFor();
    await expectNoAxeFindings(page);

    await write(main.getByRole("searchbox", { name: "Search in archived chats" }), "riv");
    await row("Boats").waitFor({ state: "detached" });
    await write(main.getByRole("searchbox"), "");
    await row("Boats").waitFor();

    await page.getByRole("button", { name: "Restore “Boats”" }).click();
    await undo.waitFor();
    expect(await archived(admin)).toEqual([script, "Rivers"]);
    await undo.click();
    await row("Boats").waitFor();
    await expect.poll(() => archived(admin)).toEqual([script, "Boats", "Rivers"]);

    await page.getByRole("button", { name: "Delete “Rivers”" }).click();
    await row("Rivers").waitFor({ state: "detached" });
    await undo.click();
    await row("Rivers").waitFor();
    expect(await archived(admin)).toContain("Rivers");

    await row("Boats").getByRole("link").click();
    await page.getByText("This chat is archived.").waitFor();
    await page.getByRole("button", { name: "Restore from archive" }).click();
    await page.getByText("This chat is archived.").waitFor({ state: "detached" });
    expect(await archived(admin)).not.toContain("Boats");
    await page.goBack();
    await row("Rivers").waitFor();

    await page.getByRole("button", { name: "Restore all" }).click();
    await page
      .getByRole("dialog")
      .or(page.getByRole("alertdialog"))
      .getByRole("button", { name: "Restore all" })
      .click();
    await page.getByText("No archived chats.").waitFor();
    expect(await archived(admin)).toEqual([]);
  });
});
