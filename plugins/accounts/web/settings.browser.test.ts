import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage, type OpenPage } from "#test/support/interface.ts";

let app: App;
let browser: Browser;
let user: TestUser;
let opened: OpenPage;
let page: Page;

describe.skipIf(chromiumPath === undefined)("the settings of an account", () => {
  beforeAll(async () => {
    await buildInterface();
    const env = { ENABLE_API_KEYS: "true", USER_PERMISSIONS_FEATURES_API_KEYS: "true" };
    [app, browser] = await Promise.all([startApp({ env }), openBrowser()]);
    user = await app.user();
    opened = await openPage(browser, { url: app.url, token: user.token, path: "/settings/account" });
    page = opened.page;
  });

  afterAll(async () => {
    await opened?.close();
    await browser?.close();
    await app?.close();
  });

  const go = async (title: string) => {
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: title }).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  };
  const section = (name: string) => page.getByRole("region", { name, exact: true });
  const mine = async (route: string, token?: string) =>
    await app.call(route, { token: token ?? (await cookie()) });
  const cookie = async () => (await opened.context.cookies()).find(({ name }) => name === "token")?.value;

  test("changes name and picture, and shows them in the sidebar", async () => {
    const profile = section("Profile");
    await profile.getByLabel("Name").fill("Ada Mühlrad");
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
      await password.getByLabel("Present password").fill(present);
      await password.getByLabel("New password", { exact: true }).fill(next);
      await password.getByLabel("New password again").fill(next);
      await password.getByRole("button", { name: "Change password" }).click();
    };
    await fill("wrong", "short");
    await password.getByText("Use at least 8 characters.").waitFor();
    await fill("wrong", "Water-wheels-2");
    await password.getByText("The present password is not right.").waitFor();
    expect(await password.getByLabel("Present password").getAttribute("aria-invalid")).toBe("true");
    await fill("Correct-horse-1", "Water-wheels-2");
    await password.getByText("Saved").waitFor();
    expect((await mine("GET /api/v1/auths", user.token)).status).toBe(401);
    expect((await mine("GET /api/v1/auths")).status).toBe(200);
    const signIn = { email: user.email, password: "Water-wheels-2" };
    expect((await app.call("POST /api/v1/auths/signin", { body: signIn })).status).toBe(200);
  });

  test("shows an API key once, and revokes it", async () => {
    const keys = section("API key");
    await keys.getByRole("button", { name: "Create a key" }).click();
    const key =
      (await keys.getByLabel("API key", { exact: true }).locator("xpath=self::code").textContent()) ?? "";
    expect((await mine("GET /api/v1/auths", key)).status).toBe(200);
    await page.reload();
    await keys.getByText(`sk-…${key.slice(-4)}`).waitFor();
    expect(await page.getByText(key).count()).toBe(0);
    await keys.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await keys.getByRole("button", { name: "Create a key" }).waitFor();
    expect((await mine("GET /api/v1/auths", key)).status).toBe(401);
  });

  test("shows a theme at once and after loading anew, and leads back", async () => {
    const shown = () => page.evaluate(() => document.documentElement.dataset["theme"]);
    await go("Interface");
    await page.getByRole("radio", { name: "Dark" }).check({ force: true });
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
    await page.getByLabel("Instructions").last().fill("Answer in rhyme.");
    await section("Instructions").getByRole("button", { name: "Save" }).click();
    await section("Instructions").getByText("Saved").waitFor();
    const variables = section("Variables");
    await variables.getByRole("button", { name: "Add a variable" }).click();
    await variables.getByLabel("Name of variable 1").fill("my city");
    await variables.getByLabel("Value of variable 1").fill("Ulm");
    await variables.getByRole("button", { name: "Save" }).click();
    await variables.getByText("Letters, digits and underscores.").waitFor();
    await variables.getByLabel("Name of variable 1").fill("city");
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
    await dialog.getByRole("textbox").fill("delete");
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
    const token = await cookie();
    const phone = await openPage(browser, {
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
    await phone.close();
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
