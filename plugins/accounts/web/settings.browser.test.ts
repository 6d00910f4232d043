import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { pick, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

let app: App;
let user: TestUser;
let token: string;
let page: Page;

describeInterface("the settings of an account", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    const env = { ENABLE_API_KEYS: "true", USER_PERMISSIONS_FEATURES_API_KEYS: "true" };
    app = await keep(startApp({ env }));
    user = await app.user();
    ({ token } = user);
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token, path: "/settings/account" }));
  });

  const go = async (title: string) => {
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: title }).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  };
  const section = (name: string) => page.getByRole("region", { name, exact: true });
  const mine = async (route: string, token?: string) =>
    await app.call(route, { token: token ?? (await cookie()) });
  const cookie = async () => (await page.context().cookies()).find(({ name }) => name === "token")?.value;

  test("changes name and picture, and shows them in the sidebar", async () => {
    const profile = section("Profile");
    await write(profile.getByLabel("Name"), "Ada Mühlrad");
    await profile.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Account: Ada Mühlrad" }).waitFor();
    const picture = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    await profile
      .getByLabel("Picture file")
      .setInputFiles({ name: "a.png", mimeType: "image/png", buffer: picture });
    await page.getByRole("button", { name: "Use picture" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const answer = await app.call(`GET /api/v1/users/${user.id}/profile/image`, { token: await cookie() });
    expect(answer.headers.get("content-type")).toBe("image/jpeg");
    await expectNoAxeFindings(page);
  });

  test("tells beside the field why a password is refused, and goes on with a new one", async () => {
    const password = section("Password");
    const fill = async (present: string, next: string) => {
      await write(password.getByLabel("Current password"), present);
      await write(password.getByLabel("New password", { exact: true }), next);
      await write(password.getByLabel("Repeat new password"), next);
      await password.getByRole("button", { name: "Change password" }).click();
    };
    await fill("wrong", "short");
    await password.getByText("Use at least 8 characters.").waitFor();
    await fill("wrong", "Water-wheels-2");
    await password.getByText("The current password is wrong.").waitFor();
    expect(await password.getByLabel("Current password").getAttribute("aria-invalid")).toBe("true");
    await fill("Correct-horse-1", "Water-wheels-2");
    await password.getByText("Saved").waitFor();
    expect((await mine("GET /api/v1/auths", user.token)).status).toBe(401);
    expect((await mine("GET /api/v1/auths")).status).toBe(200);
    token = (await cookie()) ?? "";
    const signIn = { email: user.email, password: "Water-wheels-2" };
    expect((await app.call("POST /api/v1/auths/signin", { body: signIn })).status).toBe(200);
  });

  test("shows an API key once, asks before it is lost, and deletes it", async () => {
    const keys = section("API Keys");
    await keys.getByRole("button", { name: "Generate New API Key" }).click();
    const key =
      (await keys.getByLabel("API key", { exact: true }).locator("xpath=self::code").textContent()) ?? "";
    expect((await mine("GET /api/v1/auths", key)).status).toBe(200);
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Interface" }).click();
    await page.getByText("Close without keeping it?").waitFor();
    await page.getByRole("button", { name: "Go back" }).click();
    await keys.getByRole("button", { name: "Copy the key" }).click();
    await go("Interface");
    await page.getByRole("link", { name: "Account", exact: true }).click();
    await keys.getByText(`sk-…${key.slice(-4)}`).waitFor();
    expect(await page.getByText(key).count()).toBe(0);
    await keys.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await keys.getByRole("button", { name: "Generate New API Key" }).waitFor();
    expect((await mine("GET /api/v1/auths", key)).status).toBe(401);
  });

  test("shows a theme at once and after loading anew, and leads back", async () => {
    const shown = () => page.evaluate(() => document.documentElement.dataset["theme"]);
    await go("Interface");
    await pick(page.getByRole("radio", { name: "Dark" }));
    await section("Look").getByText("Saved").waitFor();
    expect(await shown()).toBe("dark");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Interface" }).waitFor();
    expect(await shown()).toBe("dark");
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: /restore.*Theme/ }).click();
    await page.getByRole("button", { name: /restore.*Theme/ }).waitFor({ state: "detached" });
    expect(await shown()).toBe("light");
  });

  test("stores instructions and variables", async () => {
    await go("Personalisation");
    await write(page.getByLabel("Instructions").last(), "Answer in rhyme.");
    await section("Instructions").getByRole("button", { name: "Save" }).click();
    await section("Instructions").getByText("Saved").waitFor();
    const variables = section("Variables");
    await variables.getByRole("button", { name: "Add a variable" }).click();
    await write(variables.getByLabel("Name of variable 1"), "my city");
    await write(variables.getByLabel("Value of variable 1"), "Ulm");
    await variables.getByRole("button", { name: "Save" }).click();
    await variables.getByText("Letters, digits and underscores.").waitFor();
    await write(variables.getByLabel("Name of variable 1"), "city");
    await variables.getByRole("button", { name: "Save" }).click();
    await variables.getByText("Saved").waitFor();
    expect((await mine("GET /api/v1/users/user/settings")).body).toMatchObject({
      ui: { system: "Answer in rhyme." },
    });
    expect((await mine("GET /api/v1/users/user/variables")).body).toEqual({ variables: { city: "Ulm" } });
    await expectNoAxeFindings(page);
  });

  test("imports chats, and deletes all only when the word was typed", async () => {
    await go("Data");
    await page.getByLabel("File with chats").setInputFiles({
      name: "chats.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(["One", "Two"].map(toExported))),
    });
    await page.getByText("2 chats were imported.").waitFor();
    expect((await mine("GET /api/v1/chats/")).body).toHaveLength(2);
    await page.getByRole("button", { name: "Delete all chats" }).click();
    const dialog = page.getByRole("dialog");
    const confirm = dialog.getByRole("button", { name: "Delete all chats" });
    expect(await confirm.isDisabled()).toBe(true);
    await write(dialog.getByRole("textbox"), "delete");
    await confirm.click();
    await page.getByText("All chats are deleted.").waitFor();
    expect((await mine("GET /api/v1/chats/")).body).toEqual([]);
    await expectNoAxeFindings(page);
  });

  test("shows usage and what is installed, also on phones", async () => {
    await go("Usage");
    await page.getByText("Nothing was asked in this period.").waitFor();
    await expectNoAxeFindings(page);
    await go("About");
    await page.getByText("Version", { exact: true }).waitFor();
    await expectNoAxeFindings(page);
    const phone = await openPage({
      url: app.url,
      token,
      path: "/settings/data",
      size: "phone",
      theme: "dark",
    });
    await phone.page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Usage" }).tap();
    await phone.page.getByRole("heading", { level: 1, name: "Usage" }).waitFor();
    const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await phone.page.getByRole("button", { name: "Open the sidebar" }).tap();
    await phone.page.getByRole("navigation", { name: "Sidebar" }).waitFor();
    await expectNoAxeFindings(phone.page);
  });
});

const toExported = (title: string) => ({
  id: title,
  title,
  chat: {
    title,
    models: ["m"],
    history: {
      currentId: "1",
      messages: {
        1: {
          id: "1",
          parentId: null,
          childrenIds: [],
          role: "user",
          content: "Hello",
          timestamp: 1_700_000_000,
        },
      },
    },
  },
});
