import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { choose, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

let app: App;
let admin: TestUser;
let page: Page;

describeInterface("the pages of people", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    app = await keep(startApp());
    admin = await app.admin();
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token: admin.token, path: "/admin/users" }));
  });

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const region = (name: string) => page.getByRole("region", { name, exact: true });
  const users = async (): Promise<{ id: string; name: string; role: string }[]> =>
    (await app.call("GET /api/v1/users/all", { token: admin.token })).body.users;

  const groupId = async (): Promise<string> =>
    (await app.call("GET /api/v1/groups", { token: admin.token })).body[0].id;

  test("adds a user, who chooses a password by the link", async () => {
    await button("Add a user").click();
    const form = region("New user");
    await form.getByRole("button", { name: "Add and create link" }).click();
    await form.getByText("E-mail address is required").waitFor();
    await write(form.getByLabel("Name"), "Grace Miller");
    await write(form.getByLabel("E-mail address"), "grace@mill.test");
    await form.getByRole("button", { name: "Add and create link" }).click();
    await form.getByText("Grace Miller is added").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("link", { name: /Grace Miller/ }).waitFor();
    await page.getByText("Never signed in").waitFor();
    const link = new URL((await form.getByLabel("Sign-in link").textContent()) ?? "");
    const guest = (await openPage({ url: app.url, path: link.pathname + link.hash, size: "phone" })).page;
    await guest.getByRole("heading", { name: "Welcome, Grace Miller" }).waitFor();
    await expectNoAxeFindings(guest);
    const password = guest.getByLabel("New password");
    await write(password, "short");
    await guest.getByRole("button", { name: "Continue" }).click();
    await guest.getByText("Use at least 8 characters.").waitFor();
    await write(password, "Grinding-1-stones");
    await guest.getByRole("button", { name: "Continue" }).click();
    await guest.getByText("No models are shared with you yet").waitFor();
    await guest.goto(link.href);
    await guest.reload();
    await guest.getByText("This link has expired or was used already.").waitFor();
  });

  test("imports users after a preview, with the lines of the file", async () => {
    await button("Import").click();
    const csv = [
      "name,email,password,role",
      "",
      "Linus,linus@mill.test,Turning-1-wheels,user",
      "Twice,grace@mill.test,,user",
    ].join("\n");
    const file = { name: "users.csv", mimeType: "text/csv", buffer: Buffer.from(csv) };
    await page.getByLabel("CSV file with users").setInputFiles(file);
    await page.getByText("1 line is refused").waitFor();
    await page.getByRole("row", { name: /^4 Twice/ }).waitFor();
    await page.getByText("This e-mail address belongs to an account already.").waitFor();
    expect(await users()).toHaveLength(2);
    await expectNoAxeFindings(page);
    await button("Add 1 account").click();
    await page.getByText("1 account is added").waitFor();
    await page.getByRole("link", { name: /Linus/ }).waitFor();
    await region("Import users").getByRole("button", { name: "Close" }).click();
    const guest = (await openPage({ url: app.url, path: "/auth" })).page;
    await write(guest.getByLabel("E-mail"), "linus@mill.test");
    await write(guest.getByLabel("Password"), "Turning-1-wheels");
    await guest.getByRole("button", { name: "Sign in", exact: true }).click();
    await guest.getByRole("heading", { name: "Choose your own password" }).waitFor();
    await write(guest.getByLabel("New password"), "Own-wheels-22");
    await guest.getByRole("button", { name: "Continue" }).click();
    await guest.getByText("No models are shared with you yet").waitFor();
  });

  test("finds a user, changes the role and takes it back, and edits the account", async () => {
    await write(page.getByLabel("Search users"), "linus");
    await page.getByText("1 account", { exact: true }).waitFor();
    await button("Actions for Linus").click();
    await page.getByRole("menuitem", { name: "Pending" }).click();
    await page.getByText("Linus is now: Pending.").waitFor();
    await button("Undo").click();
    await page.getByText("Linus is now: User.").waitFor();
    await write(page.getByLabel("Search users"), "");
    await page.getByRole("link", { name: /Grace Miller/ }).click();
    await page.getByRole("heading", { level: 1, name: "Grace Miller" }).waitFor();
    const profile = region("Profile");
    await write(profile.getByLabel("E-mail address"), "linus@mill.test");
    await profile.getByRole("button", { name: "Save" }).click();
    await profile.getByText("This e-mail address belongs to another account.").waitFor();
    await write(profile.getByLabel("E-mail address"), "grace@river.test");
    await write(profile.getByLabel("Name"), "Grace Hopper");
    await profile.getByRole("button", { name: "Save" }).click();
    await profile.getByText("Saved").waitFor();
    await region("Usage in the last 30 days").getByText("Tokens", { exact: true }).waitFor();
    await expectNoAxeFindings(page);
  });

  const openGrace = async () => {
    await page.getByRole("link", { name: /Grace Hopper/ }).click();
    await page.getByRole("heading", { level: 1, name: "Grace Hopper" }).waitFor();
  };

  test("puts a user into a new group, and lets the group and the defaults permit something", async () => {
    await page.getByRole("link", { name: "Groups", exact: true }).click();
    await button("Add a group").click();
    await write(page.getByLabel("Name of the new group"), "Millers");
    await button("Add").click();
    await page.getByRole("heading", { level: 1, name: "Millers" }).waitFor();
    const members = region("Members");
    await write(members.getByRole("combobox", { name: "Add a member" }), "grace");
    await page.getByRole("option", { name: /Grace Hopper/ }).click();
    await members.getByRole("link", { name: /Grace Hopper/ }).waitFor();
    const permissions = region("Permissions");
    await write(permissions.getByLabel("Search permissions"), "share models");
    await permissions.getByRole("switch", { name: "Share models", exact: true }).click();
    await permissions.getByText("from this group").waitFor();
    await region("Changes").getByRole("button", { name: "Save" }).click();
    await region("Changes").waitFor({ state: "detached" });
    await write(permissions.getByLabel("Search permissions"), "notes");
    expect(await permissions.getByRole("switch", { name: "Notes", exact: true }).isDisabled()).toBe(true);
    await expectNoAxeFindings(page);
    await page.getByRole("link", { name: "Default permissions" }).click();
    await write(page.getByLabel("Search permissions"), "web search");
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
    const view = region("Permissions");
    await write(view.getByLabel("Search permissions"), "share models");
    await view.getByText("from Millers").waitFor();
    await write(view.getByLabel("Search permissions"), "web search");
    await view.getByText("no", { exact: true }).waitFor();
    await expectNoAxeFindings(page);
  });

  test("tells why the user can see a model, and ends a session of hers", async () => {
    const { token } = admin;
    const grants = [{ principal_type: "group", principal_id: await groupId(), permission: "read" }];
    const model = { id: "stone", name: "Stone", base_model_id: null, meta: {}, params: {} };
    await app.call("POST /api/v1/models/create", { token, body: { ...model, access_grants: grants } });
    await openGrace();
    const why = region("Why can Grace Hopper see this?");
    await choose(why, "Name", /^Stone/);
    await why.getByRole("button", { name: "Explain" }).click();
    await why.getByText(/shared with the group Millers/).waitFor();
    await why.getByText("Note", { exact: true }).click();
    await write(why.getByLabel("Address or id of the note"), "nothing");
    await why.getByRole("button", { name: "Explain" }).click();
    await why.getByText("There is no note of this id.").waitFor();
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
    await openGrace();
    await region("Delete the account").getByRole("button").click();
    const dialog = page.getByRole("dialog");
    const confirm = dialog.getByRole("button", { name: "Delete the account" });
    expect(await confirm.isDisabled()).toBe(true);
    await write(dialog.getByRole("textbox"), "grace@river.test");
    await confirm.click();
    await page.getByText("The account of Grace Hopper is deleted.").waitFor();
    await page.getByRole("heading", { level: 1, name: "Users" }).waitFor();
    expect((await users()).map(({ name }) => name).toSorted()).toEqual(["Linus", "admin"]);
    await page.setViewportSize({ width: 390, height: 844 });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await expectNoAxeFindings(page);
  });

  test("a long name leaves the actions in the table, and an Arabic one stands beside its picture", async () => {
    const names = ["😀".repeat(100), "عبد الله"];
    for (const [index, name] of names.entries()) {
      const body = { name, email: `long${index}@mill.test`, password: "Grinding-1-stones", role: "user" };
      expect((await admin.call("POST /api/v1/auths/add", body)).status).toBe(200);
    }
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await page.reload();
      const table = page.getByRole("table", { name: "Users" });
      await table.getByText("long0@mill.test").waitFor();
      const room = await table.evaluate((element) => {
        const { clientWidth, scrollWidth } = element.parentElement as HTMLElement;
        return scrollWidth - clientWidth;
      });
      expect(room).toBeLessThanOrEqual(0);
      const arabic = await table.locator("bdi", { hasText: names[1] as string }).boundingBox();
      const address = await table.getByText("long1@mill.test").boundingBox();
      expect(Math.abs((arabic?.x ?? 0) - (address?.x ?? 0))).toBeLessThan(2);
    }
  });
});
