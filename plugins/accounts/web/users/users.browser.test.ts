import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { buildInterface, expectNoAxeFindings, openPage, type OpenPage } from "#test/support/interface.ts";

let app: App;
let browser: Browser;
let admin: TestUser;
let opened: OpenPage;
let page: Page;

describe.skipIf(chromiumPath === undefined)("the pages of people", () => {
  beforeAll(async () => {
    await buildInterface();
    [app, browser] = await Promise.all([startApp(), openBrowser()]);
    admin = await app.admin();
    opened = await openPage(browser, { url: app.url, token: admin.token, path: "/admin/users" });
    page = opened.page;
  });

  afterAll(async () => {
    await opened?.close();
    await browser?.close();
    await app?.close();
  });

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const region = (name: string) => page.getByRole("region", { name, exact: true });
  const users = async (): Promise<{ id: string; name: string; role: string }[]> =>
    (await app.call("GET /api/v1/users/all", { token: admin.token })).body.users;

  const groupId = async (): Promise<string> =>
    (await app.call("GET /api/v1/groups", { token: admin.token })).body[0].id;

  test("adds a user, and imports others after a dry run", async () => {
    await button("Add a user").click();
    const form = region("New user");
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await form.getByText("Write an e-mail address.").waitFor();
    await form.getByLabel("Name").fill("Grace Miller");
    await form.getByLabel("E-mail address").fill("grace@mill.test");
    await form.getByRole("button", { name: "Make one" }).click();
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("link", { name: /Grace Miller/ }).waitFor();
    await button("Import").click();
    const csv = [
      "name,email,password,role",
      "Linus,linus@mill.test,Turning-1-wheels,user",
      "Twice,grace@mill.test,Turning-1-wheels,user",
    ].join("\n");
    const file = { name: "users.csv", mimeType: "text/csv", buffer: Buffer.from(csv) };
    await page.getByLabel("CSV file with users").setInputFiles(file);
    await page.getByText("1 line is refused").waitFor();
    await page.getByText("This e-mail address belongs to an account already.").waitFor();
    expect(await users()).toHaveLength(2);
    await expectNoAxeFindings(page);
    await button("Add 1 account").click();
    await page.getByText("1 account is added").waitFor();
    await page.getByRole("link", { name: /Linus/ }).waitFor();
    await region("Import users").getByRole("button", { name: "Close" }).click();
  });

  test("finds a user, changes the role and takes it back, and edits the account", async () => {
    await page.getByLabel("Search users").fill("linus");
    await page.getByText("1 account", { exact: true }).waitFor();
    await button("Actions for Linus").click();
    await page.getByRole("menuitem", { name: "Pending" }).click();
    await page.getByText("Linus is now: Pending.").waitFor();
    await button("Undo").click();
    await page.getByText("Linus is now: User.").waitFor();
    await page.getByLabel("Search users").fill("");
    await page.getByRole("link", { name: /Grace Miller/ }).click();
    await page.getByRole("heading", { level: 1, name: "Grace Miller" }).waitFor();
    const profile = region("Profile");
    await profile.getByLabel("E-mail address").fill("linus@mill.test");
    await profile.getByRole("button", { name: "Save" }).click();
    await profile.getByText("This e-mail address belongs to another account.").waitFor();
    await profile.getByLabel("E-mail address").fill("grace@river.test");
    await profile.getByLabel("Name").fill("Grace Hopper");
    await profile.getByRole("button", { name: "Save" }).click();
    await profile.getByText("Saved").waitFor();
    await region("Usage in the last 30 days").getByText("Tokens", { exact: true }).waitFor();
    await expectNoAxeFindings(page);
  });

  test("puts a user into a new group, and lets the group and the defaults permit something", async () => {
    await page.getByRole("link", { name: "Groups", exact: true }).click();
    await button("Add a group").click();
    await page.getByLabel("Name of the new group").fill("Millers");
    await button("Add").click();
    await page.getByRole("heading", { level: 1, name: "Millers" }).waitFor();
    const members = region("Members");
    await members.getByRole("combobox", { name: "Add a member" }).fill("grace");
    await page.getByRole("option", { name: /Grace Hopper/ }).click();
    await members.getByRole("link", { name: /Grace Hopper/ }).waitFor();
    const permissions = region("Permissions");
    await permissions.getByLabel("Search permissions").fill("share models");
    await permissions.getByRole("switch", { name: "Share models", exact: true }).click();
    await permissions.getByText("from this group").waitFor();
    await region("Changes").getByRole("button", { name: "Save" }).click();
    await region("Changes").waitFor({ state: "detached" });
    await permissions.getByLabel("Search permissions").fill("notes");
    expect(await permissions.getByRole("switch", { name: "Notes", exact: true }).isDisabled()).toBe(true);
    await expectNoAxeFindings(page);
    await page.getByRole("link", { name: "Default permissions" }).click();
    await page.getByLabel("Search permissions").fill("web search");
    await page.getByRole("switch", { name: "Web search" }).click();
    await region("Changes").getByRole("button", { name: "Save" }).click();
    await region("Changes").waitFor({ state: "detached" });
    await page.getByText("changed", { exact: true }).waitFor();
    await expectNoAxeFindings(page);
    const stored = await app.call("GET /api/v1/users/default/permissions", { token: admin.token });
    expect(stored.body.features).toMatchObject({ web_search: false, notes: true });
    const [group] = (await app.call("GET /api/v1/groups", { token: admin.token })).body;
    expect(group).toMatchObject({ member_count: 1, permissions: { sharing: { models: true } } });
    await page.getByRole("link", { name: "Groups", exact: true }).click();
    await page.getByText("1 permission", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Users", exact: true }).click();
    await page.getByRole("link", { name: /Grace Hopper/ }).click();
    await region("Groups").getByRole("link", { name: "Millers" }).waitFor();
    await button("Show permissions").click();
    const view = region("View as");
    await view.getByLabel("Search permissions").fill("share models");
    await view.getByText("from Millers").waitFor();
    await view.getByLabel("Search permissions").fill("web search");
    await view.getByText("no", { exact: true }).waitFor();
    await expectNoAxeFindings(page);
  });

  test("tells why the user can see a model, and ends a session of hers", async () => {
    const { token } = admin;
    const grants = [{ principal_type: "group", principal_id: await groupId(), permission: "read" }];
    const model = { id: "stone", name: "Stone", base_model_id: null, meta: {}, params: {} };
    await app.call("POST /api/v1/models/create", { token, body: { ...model, access_grants: grants } });
    const why = region("Why can Grace Hopper see this?");
    await why.getByLabel("Id of the model").fill("stone");
    await why.getByRole("button", { name: "Explain" }).click();
    await why.getByText(/shared with the group Millers/).waitFor();
    await why.getByLabel("Id of the model").fill("nothing");
    await why.getByRole("button", { name: "Explain" }).click();
    await why.getByText("There is no model of this id.").waitFor();
    const [grace] = (await users()).filter(({ name }) => name === "Grace Hopper");
    const password = "Grinding-1-stones";
    await app.call(`POST /api/v1/users/${grace?.id}/update`, { token, body: { password } });
    const signIn = {
      body: { email: "grace@river.test", password },
      headers: { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" },
    };
    const session = (await app.call("POST /api/v1/auths/signin", signIn)).body.token as string;
    await page.reload();
    await button("End the session of Firefox on Linux").click();
    await page.getByText("The session is ended.").waitFor();
    expect((await app.call("GET /api/v1/auths", { token: session })).status).toBe(401);
    await expectNoAxeFindings(page);
  });

  test("deletes an account only when its address was typed", async () => {
    await region("Delete the account").getByRole("button").click();
    const dialog = page.getByRole("dialog");
    const confirm = dialog.getByRole("button", { name: "Delete the account" });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("grace@river.test");
    await confirm.click();
    await page.getByText("The account of Grace Hopper is deleted.").waitFor();
    await page.getByRole("heading", { level: 1, name: "Users" }).waitFor();
    expect((await users()).map(({ name }) => name).toSorted()).toEqual(["Linus", "admin"]);
    await page.setViewportSize({ width: 390, height: 844 });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await expectNoAxeFindings(page);
  });
});
