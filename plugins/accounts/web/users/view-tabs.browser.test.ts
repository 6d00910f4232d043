import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { text } from "#test/support/upstream-scripts.ts";

let world: AppWithUpstream;
let admin: TestUser;

describeInterface("two tabs of one browser", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    world = await keep(startAppWithUpstream());
    world.upstream.always("/chat/completions", text("The wheel turns."));
    admin = await world.app.admin();
  });

  const titlesOf = async ({ token }: TestUser) =>
    ((await world.app.call("GET /api/v1/chats/list", { token })).body as unknown[]).length;

  test("both begin and end a view at once, and a message that waits is sent by its writer alone", async () => {
    const ada = await world.app.user();
    const body = { role: "user", name: "Ada L.", email: ada.email };
    await world.app.call(`POST /api/v1/users/${ada.id}/update`, { token: admin.token, body });
    const { page: first, context } = await openPage({ url: world.app.url, token: admin.token });
    const isSending = { value: false };
    await first.route("**/api/chat/completions", (route) =>
      isSending.value ? route.fallback() : route.abort("connectionreset"),
    );
    const field = first.getByRole("textbox", { name: "Message" });
    await write(field, "Of the administrator");
    await field.press("Enter");
    await first.getByText(/^Not sent yet/).waitFor();

    const second = await context.newPage();
    await second.goto(`${world.app.url}/admin/users/${ada.id}`);
    const button = second.getByRole("button", { name: "View as Ada L.", exact: true });
    await button.click();
    await second
      .getByRole("dialog")
      .getByText(/chats, notes and files of Ada L\., in all tabs/)
      .waitFor();
    await second.getByRole("dialog").getByRole("button", { name: "View as Ada L." }).press("Enter");
    const said = "You are viewing as Ada L. Nothing can be changed.";
    for (const page of [second, first]) {
      await page.getByText(said).waitFor();
      await page.getByText("Messages can’t be sent in a view.").waitFor();
      expect(await page.getByRole("textbox", { name: "Message" }).count()).toBe(0);
    }
    isSending.value = true;
    await second.getByRole("button", { name: "Back to my account" }).click();
    await first.getByText(said).waitFor({ state: "detached" });
    await second.getByText(said).waitFor({ state: "detached" });
    await first.getByText("A message that waited for the server was sent: Of the administrator").waitFor();
    expect([await titlesOf(admin), await titlesOf(ada)]).toEqual([1, 0]);

    await second.goto(`${world.app.url}/admin/audit`);
    await second.getByText("admin stopped viewing the platform as the account of Ada L.").waitFor();
  });
});
