import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";

describeInterface("an instance whose people sign in elsewhere, without folders", ({ setUp, openPage }) => {
  let app: App;
  let token: string;

  setUp(async (keep) => {
    app = await keep(
      startApp({
        env: { ENABLE_PASSWORD_AUTH: "false", ENABLE_INITIAL_ADMIN_SIGNUP: "true", ENABLE_FOLDERS: "false" },
      }),
    );
    ({ token } = await app.admin());
  });

  /** Requests that the server refused; those of a page that was left are cut off. */
  const refused = (requests: readonly string[]) => requests.filter((one) => /: [45]\d\d$/.test(one));

  test("adds a user without a link to choose a password", async () => {
    const { page, failedRequests } = await openPage({ url: app.url, token, path: "/admin/users" });
    await page.getByRole("button", { name: "Add a user" }).click();
    const form = page.getByRole("region", { name: "New user" });
    await form.getByText("Sign-in with a password is off.").waitFor();
    expect(await form.getByRole("radio").count()).toBe(0);
    await write(form.getByLabel("Name"), "Grace Miller");
    await write(form.getByLabel("E-mail address"), "grace@mill.test");
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("link", { name: /Grace Miller/ }).click();
    await page.getByRole("heading", { name: "Profile" }).waitFor();
    expect(await page.getByText("Sign-in link").count()).toBe(0);
    expect(await page.getByLabel("New password").count()).toBe(0);
    expect(refused(failedRequests)).toEqual([]);
  });

  test("asks for no folders", async () => {
    const { page, failedRequests } = await openPage({ url: app.url, token });
    await page.getByText("No chats yet").waitFor();
    await page.getByRole("textbox", { name: "Message" }).click();
    await page.keyboard.type("#");
    await page.goto(`${app.url}/automations/new`);
    await page.getByRole("textbox", { name: "Prompt" }).waitFor();
    expect(refused(failedRequests)).toEqual([]);
  });
});
